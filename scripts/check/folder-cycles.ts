import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { inProject } from "../project.ts";
import { type Check, toResult } from "./check.ts";
import { stronglyConnected } from "./strongly-connected.ts";

/**
 * Known cycles of folders, in the form of {@link nameOf}. The check fails for a cycle that is not
 * listed, and for a listed cycle that no longer exists, so that the list only shrinks.
 */
const KNOWN: readonly string[] = [];

/** An import of one file by another. Type imports count too, because they couple folders. */
export type Import = { from: string; line: number; to: string };

/** Members of a folder (files, and folders with a final slash) whose imports form a cycle. */
export type FolderCycle = { folder: string; members: string[]; shortest: Import[] };

/**
 * No folder takes part in a cycle of imports.
 *
 * The members of a folder are its files and its direct subfolders, each with all its content.
 * Imports between members must not form a cycle. So siblings have an order; and a folder's own
 * files are above a subfolder (`index.ts`, which lists routes) or below it (`env.ts`, which routes
 * import), but no file is both, directly or through other files.
 */
export const folderCycles: Check = {
  name: "cycles",
  run: async () => toResult(findCycleFaults(readImports(inProject("."), "src"), KNOWN)),
};

/** @returns A complaint for each unknown cycle, and for each known cycle that no longer exists. */
export function findCycleFaults(imports: Import[], known: readonly string[]): string[] {
  const cycles = findFolderCycles(imports);
  const names = new Set(cycles.map(nameOf));
  const unknown = cycles.filter((cycle) => !known.includes(nameOf(cycle))).map(describe);
  const resolved = known.filter((name) => !names.has(name));
  return [
    ...unknown,
    ...resolved.map((name) => `no longer a cycle, remove it from the list: ${name}`),
  ];
}

/** The cycles of all folders, by folder. Each strongly connected group of members is one cycle. */
export function findFolderCycles(imports: Import[]): FolderCycle[] {
  const folders = new Set(
    imports.flatMap(({ from, to }) => [...ancestorsOf(from), ...ancestorsOf(to)]),
  );
  return [...folders].toSorted().flatMap((folder) => {
    const between = imports.flatMap((one) => {
      const from = memberOf(folder, one.from);
      const to = memberOf(folder, one.to);
      return from && to && from !== to ? [{ from, to, import: one }] : [];
    });
    // The linter reports cycles of files only, in more detail.
    const groups = stronglyConnected(between).filter((group) =>
      group.some((name) => name.endsWith("/")),
    );
    return groups.map((members) => ({
      folder,
      members: members.toSorted(),
      shortest: shortestCycle(members, between),
    }));
  });
}

const nameOf = ({ folder, members }: FolderCycle): string => `${folder}: ${members.join(" ")}`;

function describe(cycle: FolderCycle): string {
  const lines = cycle.shortest.map(({ from, line, to }) => `  ${from}:${line} imports ${to}`);
  return [`${nameOf(cycle)} import one another; the shortest cycle:`, ...lines].join("\n");
}

type Edge = { from: string; to: string; import: Import };

/** The imports of the shortest cycle within a group, found by a search from each member. */
function shortestCycle(members: string[], edges: Edge[]): Import[] {
  const cycles = members.map((start) =>
    cycleFrom(
      start,
      edges.filter(({ from, to }) => members.includes(from) && members.includes(to)),
    ),
  );
  return cycles.reduce((best, cycle) => (cycle.length < best.length ? cycle : best));
}

function cycleFrom(start: string, edges: Edge[]): Import[] {
  const paths = new Map<string, Import[]>([[start, []]]);
  for (const [at, path] of paths) {
    for (const edge of edges) {
      if (edge.from !== at) continue;
      if (edge.to === start) return [...path, edge.import];
      if (!paths.has(edge.to)) paths.set(edge.to, [...path, edge.import]);
    }
  }
  throw new Error(`${start} is in no cycle`);
}

function ancestorsOf(file: string): string[] {
  const parent = dirname(file);
  return parent === "." ? [] : [parent, ...ancestorsOf(parent)];
}

/** The member of a folder that is or contains a file; undefined if the file is elsewhere. */
function memberOf(folder: string, file: string): string | undefined {
  if (!file.startsWith(`${folder}/`)) return undefined;
  const [first = "", ...rest] = file.slice(folder.length + 1).split("/");
  return rest.length > 0 ? `${first}/` : first;
}

const IMPORT = /\b(?:from|import)\s*\(?\s*["'](\.{1,2}\/[^"']+)["']/g;

/** The imports between the files below `folder`; all paths are relative to `root`. */
export function readImports(root: string, folder: string): Import[] {
  const files = readdirSync(join(root, folder), { recursive: true })
    .map((name) => `${folder}/${String(name)}`)
    .filter((name) => /\.tsx?$/.test(name))
    .toSorted();
  return files.flatMap((from) => {
    const text = readFileSync(join(root, from), "utf8");
    return [...text.matchAll(IMPORT)].map(({ index, 1: path = "" }) => ({
      from,
      line: text.slice(0, index).split("\n").length,
      to: join(dirname(from), path),
    }));
  });
}
