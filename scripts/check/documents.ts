import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { projectRoot } from "../project.ts";
import { type Check, verdictOf } from "./check.ts";
import { anchorsOf, linksOf, namedPathsOf, treeOf } from "./markdown.ts";

/** What the documents name exists: paths, links, anchors, and the directories of the README's tree. */
export const documents: Check = {
  name: "documents",
  run: async () => verdictOf(judgeDocuments(projectRoot)),
};

/** @returns One complaint per line of a document that leads nowhere. */
export function judgeDocuments(root: string): string[] {
  const docs = existsSync(join(root, "docs"))
    ? readdirSync(join(root, "docs"), { recursive: true })
    : [];
  const names = ["README.md", "CONTRIBUTING.md", ...docs.map((name) => `docs/${String(name)}`)];
  return names
    .filter((name) => name.endsWith(".md") && existsSync(join(root, name)))
    .toSorted()
    .flatMap((name) => judgeDocument(root, name).map((complaint) => `${name}: ${complaint}`));
}

function judgeDocument(root: string, name: string): string[] {
  const text = readFileSync(join(root, name), "utf8");
  const directory = join(root, name, "..");
  const exists = (path: string) =>
    existsSync(join(root, path)) || existsSync(join(directory, path));

  const unnamed = namedPathsOf(text, rootNames(root)).filter((path) => !exists(path));
  const tree =
    name === "README.md" ? treeOf(text).filter((path) => !existsSync(join(root, path))) : [];
  return [
    ...unnamed.map((path) => `there is no ${path}`),
    ...tree.map((path) => `the tree shows ${path}, which does not exist`),
    ...linksOf(text).flatMap((link) => judgeLink(root, directory, text, link)),
  ];
}

function judgeLink(root: string, directory: string, text: string, link: string): string[] {
  if (/^[a-z][a-z+.-]*:/i.test(link)) return []; // another site: no network here
  const [path = "", anchor] = link.split("#");
  const target = path.startsWith("/") ? join(root, path) : join(directory, path);
  if (!existsSync(target)) return [`the link ${link} leads nowhere`];
  if (!anchor) return [];
  const destination =
    path === "" ? text : target.endsWith(".md") ? readFileSync(target, "utf8") : undefined;
  const isFound = destination === undefined || anchorsOf(destination).has(anchor);
  return isFound ? [] : [`the link ${link} names no heading`];
}

/** The first segments of paths in the repository; what is made by tools may be absent. */
function rootNames(root: string): { tracked: Set<string>; made: Set<string> } {
  const ignore = join(root, ".gitignore");
  const made = existsSync(ignore) ? readFileSync(ignore, "utf8").match(/^[^\n*]+(?=\/$)/gm) : [];
  return { tracked: new Set(readdirSync(root)), made: new Set(made) };
}
