/** The large history: what its pages are measured with. */
export const WIDE = "wide";
export const LONG_FILE = "long.ts";
export const REVISED_FILE = "revised.txt";
/** A branch whose last commit adds very many files. */
export const MANY_FILES = "many-files";

const ENTRIES = 1000;
const LONG_FILE_LINES = 10_000;
const REVISIONS = 2000;
const REVISED_LINES = 400;
const ADDED_FILES = 3000;

const lines = (count: number, line: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => `${line(at)}\n`).join("");

const data = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`;

const file = (path: string, text: string): string => `M 644 inline ${path}\n${data(text)}`;

const commit = (ref: string, at: number, message: string): string =>
  `commit refs/heads/${ref}\nmark :${at}\ncommitter Jo Writer <jo@example.com> ${1_600_000_000 + at * 60} +0000\n${data(message)}`;

/**
 * A history for `git fast-import`: a directory of 1,000 entries that its commits change in turn, a
 * file of 10,000 lines, one that 2,000 commits change, and a commit of 3,000 files.
 */
export function* largeHistory(commits: number): Generator<string> {
  yield commit("main", 1, "Begin");
  for (let at = 0; at < ENTRIES; at++) yield file(`${WIDE}/entry-${at}.txt`, `entry ${at}\n`);
  yield file(
    LONG_FILE,
    lines(LONG_FILE_LINES, (at) => `export const value${at} = ${at}; // the value of ${at}`),
  );
  const revised = Array.from({ length: REVISED_LINES }, (_, at) => `line ${at}`);
  yield file(REVISED_FILE, `${revised.join("\n")}\n`);
  const every = Math.max(1, Math.floor(commits / REVISIONS));
  for (let at = 2; at <= commits; at++) {
    yield commit("main", at, `Change ${at}`);
    yield file(`${WIDE}/entry-${(at * 7) % ENTRIES}.txt`, `entry of commit ${at}\n`);
    if (at % every !== 0) continue;
    revised[(at / every) % REVISED_LINES] = `line of commit ${at}`;
    yield file(REVISED_FILE, `${revised.join("\n")}\n`);
  }
  yield commit(MANY_FILES, commits + 1, "Add many files");
  yield `from :${commits}\n`;
  for (let at = 0; at < ADDED_FILES; at++) {
    yield file(
      `added/file-${at}.txt`,
      lines(20, (line) => `line ${line} of ${at}`),
    );
  }
}
