from tinycss2 import Declaration as Declaration
from tinycss2 import QualifiedRule as QualifiedRule
