"""Everything a person looks at: terminal, HTML pages, charts and reports."""
