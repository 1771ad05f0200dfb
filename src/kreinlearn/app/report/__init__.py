"""Tables, figures and pages; knows no feature."""
