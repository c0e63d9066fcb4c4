import type { Child } from "hono/jsx";

import type { ChangedPath, FileDiff } from "../../../domain/code/commits/list-file-diffs.ts";
import type { DiffView } from "./diff-view.ts";

/** More files than these are listed with closed directories. */
const OPEN_MAX = 200;

/** A directory of changed files. */
interface Directory {
  readonly directories: Map<string, Directory>;
  readonly files: ChangedPath[];
}

const makeDirectory = (): Directory => ({ directories: new Map(), files: [] });

function toTree(changes: readonly ChangedPath[]): Directory {
  const root = makeDirectory();
  for (const change of changes) {
    let at = root;
    for (const name of change.path.split("/").slice(0, -1)) {
      const below = at.directories.get(name) ?? makeDirectory();
      at.directories.set(name, below);
      at = below;
    }
    at.files.push(change);
  }
  return root;
}

interface DiffTreeProps {
  changes: readonly ChangedPath[];
  /** Files on this page by path, with the names of their places. */
  shown: ReadonlyMap<string, { file: FileDiff; id: string }>;
  view: DiffView;
  /** What stands beside the name of a file. */
  noteOf: ((path: string) => Child) | undefined;
}

/** The changed files as a tree. A file that is on another page of the diff leads there. */
export function DiffTree({ changes, shown, view, noteOf }: DiffTreeProps) {
  const isOpen = changes.length <= OPEN_MAX;
  const hrefOf = ({ path }: ChangedPath): string => {
    const here = shown.get(path);
    if (here) return `#${here.id}`;
    return view.hrefWith({ "skip-to": path, files: undefined, expand: undefined });
  };
  const List = ({ directory }: { directory: Directory }) => (
    <ul>
      {Array.from(directory.directories, ([name, below]) => {
        const [names, inner] = withoutSingles(name, below);
        return (
          <li>
            <details open={isOpen}>
              <summary>{names}</summary>
              <List directory={inner} />
            </details>
          </li>
        );
      })}
      {directory.files.map((change) => (
        <li>
          <a href={hrefOf(change)} class={change.kind}>
            {change.path.slice(change.path.lastIndexOf("/") + 1)}
          </a>
          <LineCounts file={shown.get(change.path)?.file} /> {noteOf?.(change.path)}
        </li>
      ))}
    </ul>
  );
  return <List directory={toTree(changes)} />;
}

/** A directory that has nothing but one other is shown as one with it: `src/web`. */
function withoutSingles(name: string, directory: Directory): [names: string, Directory] {
  const [only, ...others] = directory.directories;
  if (!only || others.length > 0 || directory.files.length > 0) return [name, directory];
  return withoutSingles(`${name}/${only[0]}`, only[1]);
}

/** The lines that a file gains and loses. */
export function LineCounts({ file }: { file: Pick<FileDiff, "stat"> | undefined }) {
  if (!file?.stat) return <></>;
  const { added, removed } = file.stat;
  return (
    <span class="line-counts">
      {added > 0 ? <span class="added">{`+${added}`}</span> : undefined}
      {removed > 0 ? <span class="removed">{`−${removed}`}</span> : undefined}
    </span>
  );
}
