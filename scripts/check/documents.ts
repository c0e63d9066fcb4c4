import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { projectRoot } from "../project.ts";
import { type Check, toResult } from "./check.ts";
import { anchorsOf, linksOf, namedPathsOf, treeOf } from "./markdown.ts";

/**
 * Everything that the documents refer to exists: paths, links, anchors, and the README's directory
 * tree.
 */
export const documents: Check = {
  name: "documents",
  run: async () => toResult(findBrokenReferences(projectRoot)),
};

/** @returns One complaint per reference that does not exist. */
export function findBrokenReferences(root: string): string[] {
  const docs = existsSync(join(root, "docs"))
    ? readdirSync(join(root, "docs"), { recursive: true })
    : [];
  const names = ["README.md", "CONTRIBUTING.md", ...docs.map((name) => `docs/${String(name)}`)];
  return names
    .filter((name) => name.endsWith(".md") && existsSync(join(root, name)))
    .toSorted()
    .flatMap((name) => checkDocument(root, name).map((complaint) => `${name}: ${complaint}`));
}

function checkDocument(root: string, name: string): string[] {
  const text = readFileSync(join(root, name), "utf8");
  const directory = join(root, name, "..");
  const exists = (path: string) =>
    existsSync(join(root, path)) || existsSync(join(directory, path));

  const missing = namedPathsOf(text, rootNames(root)).filter((path) => !exists(path));
  const tree =
    name === "README.md" ? treeOf(text).filter((path) => !existsSync(join(root, path))) : [];
  return [
    ...missing.map((path) => `${path} does not exist`),
    ...tree.map((path) => `the tree shows ${path}, which does not exist`),
    ...linksOf(text).flatMap((link) => checkLink(root, directory, text, link)),
  ];
}

function checkLink(root: string, directory: string, text: string, link: string): string[] {
  if (/^[a-z][a-z+.-]*:/i.test(link)) return []; // another site: the check uses no network
  const [path = "", anchor] = link.split("#");
  const target = path.startsWith("/") ? join(root, path) : join(directory, path);
  if (!existsSync(target)) return [`the target of the link ${link} does not exist`];
  if (!anchor) return [];
  const destination =
    path === "" ? text : target.endsWith(".md") ? readFileSync(target, "utf8") : undefined;
  const isFound = destination === undefined || anchorsOf(destination).has(anchor);
  return isFound ? [] : [`the heading of the link ${link} does not exist`];
}

/**
 * The top-level names of the repository; ignored directories, which tools generate, may be absent.
 */
function rootNames(root: string): { tracked: Set<string>; generated: Set<string> } {
  const ignore = join(root, ".gitignore");
  const generated = existsSync(ignore)
    ? readFileSync(ignore, "utf8").match(/^[^\n*]+(?=\/$)/gm)
    : [];
  return { tracked: new Set(readdirSync(root)), generated: new Set(generated) };
}
