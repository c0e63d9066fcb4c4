import { z } from "@hono/zod-openapi";

import { decodeText } from "../../git/byte-text.ts";
import type { LineStat } from "../../git/diff/line-stat.ts";
import type { PathChange, PathEntry } from "../../git/diff/tree-diff.ts";
import type { Oid } from "../../git/oid.ts";
import { Int64 } from "../json.ts";
import type { RepositoryContext } from "../repos/repository.ts";
import { apiUrlOf, encodePath, htmlUrlOf } from "../urls.ts";
import type { Viewer } from "../viewer.ts";

const Url = z.string().openapi({ format: "uri" });

export const ChangedFile = z
  .object({
    filename: z.string(),
    previous_filename: z
      .string()
      .optional()
      .openapi({ description: "The previous path of a renamed file" }),
    sha: z.string().openapi({ description: "Id of the blob; of the old blob for a deleted file" }),
    status: z.enum(["added", "deleted", "renamed", "copied", "changed", "unchanged"]).openapi({
      description: "Unchanged if no line differs: for binary files and changes of mode",
    }),
    additions: Int64,
    deletions: Int64,
    changes: Int64,
    html_url: Url,
    contents_url: Url,
    raw_url: Url,
  })
  .openapi("ChangedFile");

/** A changed file. */
export interface ChangedFileEntry {
  readonly change: PathChange;
  /** Undefined for binary files. */
  readonly stat: LineStat | undefined;
}

/** The repository and commit of one side of a comparison, to link to. */
export interface FileSide {
  readonly repository: RepositoryContext;
  readonly commitOid: Oid;
}

/** Formats a changed file for `viewer`. A deleted file links to the old side, if there is one. */
export function toChangedFile(
  { change, stat = { added: 0, removed: 0 } }: ChangedFileEntry,
  { old, fresh }: { old: FileSide | undefined; fresh: FileSide },
  viewer: Viewer,
): z.infer<typeof ChangedFile> {
  const isDeleted = change.kind === "deleted";
  const entry: PathEntry = isDeleted ? change.old : change.new;
  const { repository, commitOid } = (isDeleted && old) || fresh;
  const path = encodePath(decodeText(entry.path));
  const html = htmlUrlOf(repository, viewer);
  const isLineless = stat.added + stat.removed === 0;
  return {
    filename: decodeText(entry.path),
    ...(change.kind === "renamed" && { previous_filename: decodeText(change.old.path) }),
    sha: entry.oid,
    status: change.kind !== "modified" ? change.kind : isLineless ? "unchanged" : "changed",
    additions: stat.added,
    deletions: stat.removed,
    changes: stat.added + stat.removed,
    html_url: `${html}/src/commit/${commitOid}/${path}`,
    contents_url: `${apiUrlOf(repository, viewer)}/contents/${path}?ref=${commitOid}`,
    raw_url: `${html}/raw/commit/${commitOid}/${path}`,
  };
}
