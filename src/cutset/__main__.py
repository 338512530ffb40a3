"""`python -m cutset`, for environments whose scripts folder is not on the path."""

from cutset.cli.main import main

if __name__ == "__main__":
    main()
