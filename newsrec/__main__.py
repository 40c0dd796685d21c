"""`python -m newsrec`."""

from newsrec.cli.app import main

if __name__ == "__main__":
    main()
