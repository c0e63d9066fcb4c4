import { git, makeDirectory } from "./git.ts";

/** Input for `git fast-import`, which creates a repository of any size in a second or two. */
export type Piece = string | Uint8Array;

const WHO = "C O Mitter <committer@example.com>";

function* data(content: Piece): Generator<Piece> {
  yield `data ${typeof content === "string" ? Buffer.byteLength(content) : content.length}\n`;
  yield content;
  yield "\n";
}

/** A commit on top of `branch`, with files by path. */
export function* commitPieces(
  branch: string,
  at: number,
  files: Iterable<readonly [path: string, content: Piece]>,
): Generator<Piece> {
  yield `commit refs/heads/${branch}\ncommitter ${WHO} ${1_600_000_000 + at} +0000\n`;
  yield* data(`change ${at}\n`);
  for (const [path, content] of files) {
    yield `M 100644 inline ${path}\n`;
    yield* data(content);
  }
}

/** A bare repository created by `git fast-import` from a stream of commands. */
export async function importRepository(pieces: Iterable<Piece>): Promise<string> {
  const directory = makeDirectory();
  await git(directory, ["init", "--quiet", "--bare", "--initial-branch=main"]);
  const stream = Buffer.concat(
    Array.from(pieces, (piece) => (typeof piece === "string" ? Buffer.from(piece) : piece)),
  );
  const options = ["-c", "fastimport.unpackLimit=0", "-c", "core.compression=1"];
  await git(directory, [...options, "fast-import", "--quiet"], stream);
  return directory;
}
