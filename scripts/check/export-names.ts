import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { projectRoot } from "../project.ts";
import { type Check, toResult } from "./check.ts";

/**
 * Each exported name has one meaning.
 *
 * A noun may be shared by a domain type, its JSON in `shapes` and the list of its endpoints in
 * `api`. The entry folders, and the readers of forges, do not import each other, and may use the
 * same names for their own steps.
 */
export const exportNames: Check = {
  name: "names",
  run: async () => toResult(findNameClashes(readSources(join(projectRoot, "src")))),
};

/** @param sources Texts of files by their paths below `src`. */
export function findNameClashes(sources: ReadonlyMap<string, string>): string[] {
  const pathsByName = new Map<string, Map<string, string[]>>();
  for (const [path, text] of sources) {
    if (path.startsWith(GENERATED)) continue;
    for (const [, name = "", rest = ""] of text.matchAll(EXPORT)) {
      const part = partOf(path, rest);
      const byPart = pathsByName.get(name) ?? new Map<string, string[]>();
      pathsByName.set(name, byPart);
      const paths = byPart.get(part) ?? [];
      // A schema and its type have the same name.
      byPart.set(part, paths.includes(path) ? paths : [...paths, path]);
    }
  }
  return [...pathsByName]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, byPart]) => {
      const paths = findClash(byPart)?.map((path) => `src/${path}`);
      return paths ? [`${name} is exported by ${paths.join(" and ")}`] : [];
    });
}

const EXPORT =
  /^export (?:declare |abstract |async )*(?:const|let|function\*?|class|interface|type|enum) (\w+)(.*)$/gm;

/** Files that a tool writes; their names are those of a protocol. */
const GENERATED = "actions-runner/messages/";

const ENTRY_FOLDERS = /^(actions-runner|api|forges\/\w+|git-http|jobs|mcp|registries|web)\//;

/** The part of the program within which a name must be unique. */
function partOf(path: string, rest: string): string {
  if (path.startsWith("shapes/")) return "shapes";
  if (/^ = (?:endpoints\(|new Hono\b)/.test(rest)) return "endpoints";
  return ENTRY_FOLDERS.exec(path)?.[1] ?? "rest";
}

/** The paths that export one name with different meanings; undefined if there is no clash. */
function findClash(byPart: ReadonlyMap<string, string[]>): string[] | undefined {
  const rest = byPart.get("rest") ?? [];
  const groups = [byPart.get("shapes") ?? [], rest];
  for (const [part, paths] of byPart)
    if (ENTRY_FOLDERS.test(`${part}/`)) groups.push(rest.concat(paths));
  return groups.find((paths) => paths.length > 1);
}

function readSources(root: string): Map<string, string> {
  const names = readdirSync(root, { recursive: true }).map(String).toSorted();
  return new Map(
    names
      .filter((name) => name.endsWith(".ts"))
      .map((name) => [name, readFileSync(join(root, name), "utf8")]),
  );
}
