"""Ratings as a list that a notebook draws, that becomes a data frame, and that is written to a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, SupportsIndex, overload

from matese import mqm
from matese.annotation import Rating
from matese.errors import UsageError, counted

if TYPE_CHECKING:
    import datasets
    import pandas
    import polars


class Ratings(list[Rating]):
    """A list of ratings, as `matese.read` and `Annotator.annotate` return it; slices have this type, too."""

    @overload
    def __getitem__(self, index: SupportsIndex) -> Rating: ...

    @overload
    def __getitem__(self, index: slice) -> Ratings: ...

    def __getitem__(self, index: SupportsIndex | slice) -> Rating | Ratings:
        """Returns one rating, or those of a slice."""
        return Ratings(super().__getitem__(index)) if isinstance(index, slice) else super().__getitem__(index)

    def __repr__(self) -> str:
        """Returns how many ratings and errors there are, and how to get at them."""
        n_errors = sum(len(rating.all_errors) for rating in self)
        n_unjudged = sum(rating.errors is None for rating in self)
        without = f", {n_unjudged:,} without spans" if n_unjudged else ""
        counts = f"{counted(len(self), 'rating')}, {counted(n_errors, 'error')}{without}"
        return f"<{counts}: see [0], .write(path), .to_pandas()>"

    def _repr_html_(self) -> str:
        from matese.render import notebook

        return notebook.html_list(self)

    def to_pandas(self, *, weights: mqm.AnyWeights = "matese") -> pandas.DataFrame:
        """Returns a data frame with one row per rating and the keys of the JSONL format as columns.

        Raises:
            UsageError: if pandas is not installed.
        """
        from matese.formats.tables import frames

        return frames.to_pandas(self, weights=weights)

    def to_polars(self, *, weights: mqm.AnyWeights = "matese") -> polars.DataFrame:
        """Returns the same table as `to_pandas`, for polars.

        Raises:
            UsageError: if polars or pyarrow is not installed.
        """
        from matese.formats.tables import frames

        return frames.to_polars(self, weights=weights)

    def to_dataset(self, *, weights: mqm.AnyWeights = "matese") -> datasets.Dataset:
        """Returns the same table as `to_pandas`, as a data set of Hugging Face.

        Raises:
            UsageError: if datasets is not installed.
        """
        from matese.formats.tables import frames

        return frames.to_dataset(self, weights=weights)

    @classmethod
    def from_frame(
        cls,
        frame: object,
        *,
        columns: Mapping[str, str | Sequence[str]] | None = None,
        lang_pair: str | None = None,
    ) -> Ratings:
        """Returns the ratings of a table; the reverse of `to_pandas`, `to_polars` and `to_dataset`.

        Args:
            frame: a data frame of pandas or polars or a `datasets.Dataset`: ratings with the columns of our JSONL, or
                translations, whose ratings have no spans.
            columns: columns with unusual names, such as {"hypothesis": "output", "reference": "gold"}.
            lang_pair: of the texts of a column `translation` by language ("en-de").

        Raises:
            UsageError: if this is no such table.
            FormatError: if a row is neither a rating nor a translation.
        """
        from matese.formats.tables import frames

        if not frames.is_frame(frame):
            raise UsageError(f"frame is a {type(frame).__name__}: must be a table of pandas, polars or datasets")
        return cls(frames.ratings(frame, columns, lang_pair))

    def write(
        self,
        path: str | PathLike[str],
        *,
        format: str | None = None,  # noqa: A002
        weights: mqm.AnyWeights = "matese",
        template: str | PathLike[str] | None = None,
        strict: bool = False,
    ) -> Counter[str]:
        """Writes the ratings to a file; arguments, result and errors are those of `matese.write`."""
        from matese.formats import writing

        return writing.write_as(self, path, format=format, weights=weights, template=template, strict=strict)
