"""The pages of the manual, where the program can write them: mandoc makes HTML of them."""

import re
import shutil
import subprocess
import tempfile
import pathlib


class Manuals:
    def __init__(self, site, program):
        self.site, self.program = site, program

    def write(self):
        """Returns the places of the pages, by the names of the commands."""
        return {}
