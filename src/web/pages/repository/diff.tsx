import { raw } from "hono/html";

import type { FileDiff } from "../../../domain/code/commits/list-file-diffs.ts";
import { decodeText } from "../../../git/byte-text.ts";
import { formatMode } from "../../../git/diff/quote-path.ts";
import type { Hunk } from "../../../git/diff/unified.ts";
import { formatHex } from "../../../lib/hex.ts";
import { escapeHtml } from "../../../render/html.ts";

/** A file of a diff with the name of its place in the page. */
export interface PlacedDiff {
  readonly file: FileDiff;
  /** `diff-` and the SHA-1 of the path, as links of Gitea have it. */
  readonly id: string;
}

export const placeDiffs = (files: readonly FileDiff[]): Promise<PlacedDiff[]> =>
  Promise.all(
    files.map(async (file) => {
      const digest = await crypto.subtle.digest("SHA-1", new TextEncoder().encode(file.path));
      return { file, id: `diff-${formatHex(new Uint8Array(digest))}` };
    }),
  );

const KIND_NAMES = {
  added: "added",
  deleted: "deleted",
  modified: "modified",
  renamed: "renamed",
  copied: "copied",
} as const;

interface DiffProps {
  diffs: readonly PlacedDiff[];
  total: number;
  /** The path of a file's page, on the side that exists. */
  pathOf: (file: FileDiff) => string;
}

/** How files differ: a list of the files, then each with its lines. */
export function Diff({ diffs, total, pathOf }: DiffProps) {
  const sum = (key: "added" | "removed") =>
    diffs.reduce((count, { file }) => count + (file.stat?.[key] ?? 0), 0);
  return (
    <>
      <details class="box" open={diffs.length <= 20}>
        <summary class="box-head">
          {`${total} changed file${total === 1 ? "" : "s"}, `}
          <span class="added">{`+${sum("added")}`}</span>{" "}
          <span class="removed">{`−${sum("removed")}`}</span>
        </summary>
        <ul class="changed">
          {diffs.map(({ file, id }) => (
            <li>
              <a href={`#${id}`}>{file.path}</a> <span class="soft">{KIND_NAMES[file.kind]}</span>{" "}
              <Counts file={file} />
            </li>
          ))}
        </ul>
      </details>
      {diffs.map(({ file, id }) => (
        <FileBox file={file} id={id} path={pathOf(file)} />
      ))}
    </>
  );
}

const Counts = ({ file: { stat } }: { file: FileDiff }) =>
  stat ? (
    <>
      <span class="added">{`+${stat.added}`}</span>{" "}
      <span class="removed">{`−${stat.removed}`}</span>
    </>
  ) : (
    <></>
  );

function FileBox({ file, id, path }: { file: FileDiff; id: string; path: string }) {
  const { oldPath, oldMode, newMode, hunks, isCut } = file;
  const isModeChanged = oldMode !== undefined && newMode !== undefined && oldMode !== newMode;
  return (
    <section class="box" id={id} aria-label={file.path}>
      <h3 class="box-head">
        <span class="grow">
          {oldPath === undefined ? undefined : <span class="soft">{`${oldPath} → `}</span>}
          <a href={path}>{file.path}</a>{" "}
          {isModeChanged ? (
            <span class="soft">{`${formatMode(oldMode)} → ${formatMode(newMode)}`}</span>
          ) : undefined}
        </span>
        <span class="soft">{KIND_NAMES[file.kind]}</span>
        <Counts file={file} />
      </h3>
      {file.stat === undefined ? (
        <p class="inside soft">This file is not shown: it is no text, or it is too large.</p>
      ) : hunks.length === 0 && !isCut ? (
        <p class="inside soft">The content is the same.</p>
      ) : (
        <div class="scroll" tabindex={0} role="region" aria-label={`Changes of ${file.path}`}>
          <table class="diff">
            <tbody>{raw(hunks.map((hunk) => formatHunk(hunk, id)).join(""))}</tbody>
          </table>
        </div>
      )}
      {isCut ? (
        <p class="inside soft">The rest of this file's changes is too long to be shown.</p>
      ) : undefined}
    </section>
  );
}

const NO_LINE_FEED = ' <span class="soft">(no line feed)</span>';

const MARKS = { context: " ", added: "+", removed: "-" } as const;

/** The rows of a hunk, each line with an address of its own: `#diff-…R12`. */
function formatHunk(
  { leftStart, leftCount, rightStart, rightCount, heading, lines }: Hunk,
  id: string,
) {
  let [left, right] = [leftStart, rightStart];
  const range = `@@ -${leftStart},${leftCount} +${rightStart},${rightCount} @@`;
  let html = `<tr class="hunk"><td colspan="2"></td><td>${escapeHtml(`${range} ${decodeText(heading)}`)}</td></tr>`;
  for (const { kind, text, isTerminated } of lines) {
    const [isOld, isNew] = [kind !== "added", kind !== "removed"];
    const oldCell = isOld ? numberCell(left, isNew ? undefined : `${id}L${left}`) : "<td></td>";
    const newCell = isNew ? numberCell(right, `${id}R${right}`) : "<td></td>";
    const content = escapeHtml(decodeText(text)) + (isTerminated ? "" : NO_LINE_FEED);
    html += `<tr class="${kind}">${oldCell}${newCell}<td data-mark="${MARKS[kind]}">${content}</td></tr>`;
    if (isOld) left++;
    if (isNew) right++;
  }
  return html;
}

const numberCell = (line: number, id: string | undefined): string =>
  id === undefined ? `<td>${line}</td>` : `<td id="${id}"><a href="#${id}">${line}</a></td>`;
