"""``rankwise rank-predict``: score documents with a trained ranker."""

from __future__ import annotations

from typing import Annotated

import typer

from rankwise.cli.options import Json, Out, ZeroBased


def rank_predict(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A ranker that rank-train saved.")],
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="LETOR (SVMlight) file, - for standard input, or a folder with test.")
    ],
    out: Out = None,
    run: Annotated[bool, typer.Option("--run", help="Write a TREC run: qid Q0 document rank score tag.")] = False,
    tag: Annotated[str, typer.Option(help="Name of the run.")] = "rankwise",
    zero_based: ZeroBased = False,
    as_json: Json = False,
) -> None:
    """Score documents: one number a line, in the order of the file, or a TREC run, best documents first."""
    from rankwise.cli import console
    from rankwise.cli.documents import load_ranker, read_documents, scored, takes_sparse
    from rankwise.cli.files import check_writable, shown_name, write_text
    from rankwise.data.formats.trec import run_text

    check_writable(out, model, file)
    ranker = load_ranker(model)
    documents = read_documents(file, zero_based=zero_based, sparse=takes_sparse(ranker))
    n_features = documents.X.shape[1]
    if n_features < ranker.n_features_in_:
        # The format leaves zeros out, so that this may be right; or the file is of other features.
        known = f"the model was trained on {ranker.n_features_in_}"
        console.print_notes([f"{shown_name(file)} names {n_features} features, {known}; the others count as 0"])
    score = scored(ranker, documents)
    if as_json:
        rows = zip(documents.qid.tolist(), documents.names, score.tolist(), strict=True)
        scores = [{"qid": qid, "document": document, "score": value} for qid, document, value in rows]
        console.print_json({"data": shown_name(file), "model": model, "scores": scores})
        if out is None:
            return
    if run:
        write_text(out, run_text(documents.qid, documents.names, score, tag))
    else:
        write_text(out, "".join(f"{value!r}\n" for value in score.tolist()))
