"""The search for the options that a head trains best with."""
