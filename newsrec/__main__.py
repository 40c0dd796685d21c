"""`python -m newsrec`."""

from newsrec.cli import main

if __name__ == "__main__":
    main()
