import type { Context } from "hono";

import type { User } from "../../../db/schema/index.ts";
import type { FileDiffQuery, FileDiffs } from "../../../domain/code/commits/list-file-diffs.ts";
import type { Whitespace } from "../../../git/diff/whitespace.ts";
import type { LineRange } from "../../../git/diff/widen-hunks.ts";

/** The words of links about white space, by Gitea's values of `whitespace`. */
export const WHITESPACE_LABELS: Readonly<Record<Whitespace, string>> = {
  "show-all": "Show all",
  "ignore-change": "Ignore changes of amount",
  "ignore-eol": "Ignore at the end of lines",
  "ignore-all": "Ignore all",
};

export const DIFF_STYLES = ["unified", "split"] as const;

/** How a page shows a diff, by its address. */
export interface DiffView {
  readonly style: (typeof DIFF_STYLES)[number];
  readonly query: FileDiffQuery;
  /** The address of the same page with other parameters; undefined removes one. */
  readonly hrefWith: (
    changes: Readonly<Record<string, string | undefined>>,
    fragment?: string,
  ) => string;
  /** Whether it is of a text that is not stored, and no address shows more of it. */
  readonly isOfDraft?: boolean;
}

/** Ranges of lines that an address names, at most. */
const RANGES_MAX = 50;

/**
 * Reads how to show a diff: Gitea's `style`, `whitespace`, `skip-to` and `files`, and `expand`, the
 * lines around a file's changes: `41-60,91-110`.
 *
 * @param reader Whose settings say the style where the address does not.
 */
export function readDiffView(c: Context, reader: User | undefined): DiffView {
  const { searchParams } = new URL(c.req.url);
  const read = (name: string): string | undefined => searchParams.get(name) || undefined;
  const style = DIFF_STYLES.find((each) => each === read("style"));
  const whitespace = read("whitespace") ?? "";
  return {
    style: style ?? (reader?.diffViewStyle === "split" ? "split" : "unified"),
    query: {
      whitespace: isWhitespace(whitespace) ? whitespace : "show-all",
      from: read("skip-to"),
      only: read("files"),
      expanded: readRanges(read("expand") ?? ""),
    },
    hrefWith(changes, fragment) {
      const changed = new URLSearchParams(searchParams);
      for (const [name, value] of Object.entries(changes)) {
        if (value === undefined) changed.delete(name);
        else changed.set(name, value);
      }
      return `?${changed.toString()}${fragment === undefined ? "" : `#${fragment}`}`;
    },
  };
}

/** Whether a diff has the file that the address names, if it names one. */
export const isFound = ({ items }: FileDiffs, { query: { from, only } }: DiffView): boolean =>
  items.length > 0 || (from ?? only) === undefined;

const isWhitespace = (text: string): text is Whitespace => Object.hasOwn(WHITESPACE_LABELS, text);

const readRanges = (text: string): LineRange[] =>
  Array.from(text.matchAll(/(\d{1,7})-(\d{1,7})/g), ([, first, last]) => ({
    first: Number(first),
    last: Number(last),
  })).slice(0, RANGES_MAX);

export const formatRanges = (ranges: readonly LineRange[]): string =>
  ranges.map(({ first, last }) => `${first}-${last}`).join(",");
