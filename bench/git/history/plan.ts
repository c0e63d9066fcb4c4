import { Random } from "./random.ts";

/** The size of a history. */
export type Dimensions = {
  seed: number;
  commits: number;
  /** Number of files at the end; the first commit has a tenth of them. */
  files: number;
  /** Number of directories, which contain all but a few files, and their depth below the root. */
  directories: number;
  depth: 1 | 2;
  /** Share of changes that edit the few files in the root. */
  rootShare: number;
  /** Average number of lines of a file. */
  lines: number;
  /** Number of branches besides `main`, and of annotated tags. */
  branches: number;
  tags: number;
};

/** A version of a file. */
type Change = { file: number; version: number };

/** A commit, identified by its index in the plan. */
type PlannedCommit = {
  /** Number of the side branch; undefined on `main`. */
  branch: number | undefined;
  parents: number[];
  changes: Change[];
};

export type Plan = {
  commits: PlannedCommit[];
  /** Number of versions of each file. */
  versions: number[];
};

/** Number of files in the root: the first ones. */
export const ROOT_FILES = 20;
/** Maximum number of commits of a side branch. */
const SIDE_LINE_MAX = 6;

/**
 * Plans a history: a main branch with side branches that are merged. Each commit
 * edits one to three files, mostly of one directory, or adds a file.
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
      // The numbers of files in one directory differ by the number of directories.
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
    // One side branch of five stays unmerged.
    head = meanwhile;
    if (random.next() < 0.8) {
      const parents = [meanwhile, tip];
      head = commits.push({ branch: undefined, parents, changes: [...merged.values()] }) - 1;
    }
  }
  return { commits, versions };
}

/** Chooses a file to edit: a few are edited often, most rarely. */
const pickFile = (random: Random, files: number, rootShare: number): number =>
  random.next() < rootShare
    ? random.below(Math.min(files, ROOT_FILES))
    : Math.floor(random.next() ** 2 * files);
