import { Random } from "./random.ts";

/** How large a history is. */
export type Dimensions = {
  seed: number;
  commits: number;
  /** Files in the end; the first commit has a tenth of them. */
  files: number;
  /** Directories that all but a few of them lie in, and how far these are below the root. */
  directories: number;
  depth: 1 | 2;
  /** How many changes of all are to the few files of the root. */
  rootShare: number;
  /** Lines of a file, on average. */
  lines: number;
  /** Branches beside `main`, and annotated tags. */
  branches: number;
  tags: number;
};

/** A version of a file. */
type Change = { file: number; version: number };

/** A commit, by its place in the plan. */
type PlannedCommit = {
  /** The branch of a side line, by its number; undefined on `main`. */
  branch: number | undefined;
  parents: number[];
  changes: Change[];
};

export type Plan = {
  commits: PlannedCommit[];
  /** Versions of each file. */
  versions: number[];
};

/** Files that lie in the root: the first. */
export const ROOT_FILES = 20;
/** Commits of a side line at most. */
const SIDE_LINE_MAX = 6;

/**
 * Decides what happens in a history: a main line with side lines that are merged, each of whose
 * commits edits one to three files, mostly of one directory, or adds one.
 */
export function planHistory(dimensions: Dimensions): Plan {
  const random = new Random(dimensions.seed);
  const versions = Array.from({ length: Math.ceil(dimensions.files / 10) }, () => 1);
  const commits: PlannedCommit[] = [
    { branch: undefined, parents: [], changes: versions.map((_, file) => ({ file, version: 0 })) },
  ];
  const growth = (dimensions.files - versions.length) / dimensions.commits;
  const sideLineEvery = dimensions.commits / Math.max(1, dimensions.branches);
  let branches = 0;
  let head = 0;

  const change = (): Change[] => {
    const changes = new Map<number, Change>();
    if (random.next() < growth) {
      changes.set(versions.length, { file: versions.length, version: 0 });
      versions.push(1);
    }
    const first = pickFile(random, versions.length, dimensions.rootShare);
    const count = random.next() < 0.75 ? 1 : 2 + random.below(2);
    for (let at = changes.size; at < count; at += 1) {
      // Files of one directory are as many apart as there are directories.
      const file = (first + at * dimensions.directories) % versions.length;
      if (!changes.has(file)) changes.set(file, { file, version: versions[file] ?? 0 });
    }
    for (const { file, version } of changes.values()) versions[file] = version + 1;
    return [...changes.values()];
  };

  while (commits.length < dimensions.commits) {
    const isSideLineDue = commits.length >= (branches + 1) * sideLineEvery;
    if (!isSideLineDue || branches === dimensions.branches) {
      head = commits.push({ branch: undefined, parents: [head], changes: change() }) - 1;
      continue;
    }
    const branch = branches;
    branches += 1;
    const merged = new Map<number, Change>();
    let tip = head;
    const length = 1 + random.below(Math.min(SIDE_LINE_MAX, Math.max(1, sideLineEvery - 1)));
    for (let at = 0; at < length; at += 1) {
      const changes = change();
      tip = commits.push({ branch, parents: [tip], changes }) - 1;
      for (const one of changes) merged.set(one.file, one);
    }
    const meanwhile = commits.push({ branch: undefined, parents: [head], changes: change() }) - 1;
    for (const { file } of commits[meanwhile]?.changes ?? []) merged.delete(file);
    // One side line of five is still open.
    head = meanwhile;
    if (random.next() < 0.8) {
      const parents = [meanwhile, tip];
      head = commits.push({ branch: undefined, parents, changes: [...merged.values()] }) - 1;
    }
  }
  return { commits, versions };
}

/** A file to be edited: few are edited often, most seldom. */
const pickFile = (random: Random, files: number, rootShare: number): number =>
  random.next() < rootShare
    ? random.below(Math.min(files, ROOT_FILES))
    : Math.floor(random.next() ** 2 * files);
