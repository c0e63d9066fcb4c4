import { Random } from "./random.ts";
import { type Dimensions, type Plan, ROOT_FILES } from "./plan.ts";
import { Vocabulary } from "./text.ts";

const PEOPLE = 60;
const EPOCH_SECONDS = Date.UTC(2015, 0, 1) / 1000;

/**
 * A planned history as input for `git fast-import`.
 *
 * The blobs of a file are consecutive, from the first version to the last: fast-import stores each
 * as a delta against the previous one. A blob of a few bytes separates two files: it is
 * unreferenced and too small to be a delta base.
 *
 * @see git-fast-import(1), "INPUT FORMAT".
 */
export function* streamHistory(dimensions: Dimensions, plan: Plan): Generator<Buffer | string> {
  const random = new Random(dimensions.seed + 1);
  const vocabulary = new Vocabulary(random);
  const marks = markBlobs(plan);
  yield* streamBlobs(dimensions, plan, vocabulary, random);

  const commitMark = (commit: number): number => marks.end + commit;
  const people = Array.from({ length: PEOPLE }, () => {
    const [first, last] = [random.pick(vocabulary.words), random.pick(vocabulary.words)];
    return `${first} ${last} <${first}.${last}@example.com>`;
  });
  for (const [at, { branch, parents, changes }] of plan.commits.entries()) {
    const [first, second] = parents;
    const time = `${EPOCH_SECONDS + at * 1800 + random.below(1800)} +0${random.below(10)}00`;
    const subject = vocabulary.sentence(random, 3 + random.below(5));
    const body = vocabulary
      .sentence(random, 10 + random.below(40))
      .replaceAll(/(.{60,70}) /g, "$1\n");
    const message = `${subject}\n\n${body}.\n`;
    yield [
      `commit refs/heads/${branch === undefined ? "main" : `topic/${branch}`}`,
      `mark :${commitMark(at)}`,
      `author ${random.pick(people)} ${time}`,
      `committer ${random.pick(people)} ${time}`,
      `data ${message.length}`,
      message,
      ...(first === undefined ? [] : [`from :${commitMark(first)}`]),
      ...(second === undefined ? [] : [`merge :${commitMark(second)}`]),
      ...changes.map(
        ({ file, version }) =>
          `M 100644 :${(marks.starts[file] ?? 0) + version} ${pathOf(dimensions, file)}`,
      ),
      "\n",
    ].join("\n");
  }
  for (let tag = 0; tag < dimensions.tags; tag += 1) {
    const commit = Math.floor((plan.commits.length * (tag + 1)) / (dimensions.tags + 1));
    const message = `Release ${tag}\n`;
    yield [
      `tag v1.${tag}`,
      `from :${commitMark(commit)}`,
      `tagger ${random.pick(people)} ${EPOCH_SECONDS + commit * 1800} +0000`,
      `data ${message.length}`,
      message,
      "",
    ].join("\n");
  }
  yield "done\n";
}

function* streamBlobs(
  { lines: average }: Dimensions,
  { versions }: Plan,
  vocabulary: Vocabulary,
  random: Random,
): Generator<Buffer | string> {
  const newLine = (): number => random.below(vocabulary.lineCount);
  let mark = 1;
  for (const count of versions) {
    yield `blob\ndata 8\n${String(mark).padStart(8)}\n`;
    // A few files are long: a tenth of them contains half of the lines.
    const length = Math.ceil((average / 10) * (0.5 + 1 / (0.03 + random.next())));
    const lines = Array.from({ length }, newLine);
    for (let version = 0; version < count; version += 1) {
      if (version > 0) edit(lines, random, newLine);
      const text = vocabulary.text(lines);
      yield `blob\nmark :${mark}\ndata ${text.length}\n`;
      yield text;
      yield "\n";
      mark += 1;
    }
  }
}

/** Changes a few lines in one to three places. */
function edit(lines: number[], random: Random, newLine: () => number): void {
  for (let remaining = random.below(3); remaining >= 0; remaining -= 1) {
    const fresh = Array.from({ length: random.below(24) + 1 }, newLine);
    lines.splice(random.below(lines.length), random.below(23), ...fresh);
  }
}

/** The fast-import mark of each file's first version, and the first mark after all blobs. */
function markBlobs({ versions }: Plan): { starts: number[]; end: number } {
  let end = 1;
  const starts = versions.map((count) => {
    const start = end;
    end += count;
    return start;
  });
  return { starts, end };
}

function pathOf({ directories, depth }: Dimensions, file: number): string {
  const name = `file-${file}.ts`;
  if (file < ROOT_FILES) return name;
  const directory = file % directories;
  const module = `module-${directory}/${name}`;
  return depth === 1 ? module : `part-${directory % 17}/${module}`;
}
