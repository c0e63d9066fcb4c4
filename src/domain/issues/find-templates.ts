import type { Ctx } from "../../context.ts";
import { decodeText, readByteText } from "../../git/byte-text.ts";
import {
  isSubmoduleMode,
  isSymlinkMode,
  isTreeMode,
  parseTree,
  type TreeEntry,
} from "../../git/object/tree.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import type { OpenRepository } from "../../storage/open-repository.ts";
import { findContentRevision, findEntries, splitPath } from "../contents/find-entry.ts";
import { openSnapshot } from "../git/open-snapshot.ts";
import { DEFAULT_ISSUE_CONFIG, type IssueConfig, readIssueConfig } from "./issue-config.ts";
import { type IssueTemplate, readIssueTemplate } from "./issue-template.ts";

const CONFIG_DIRECTORIES = [".gitea", ".github"].flatMap((directory) => [
  `${directory}/ISSUE_TEMPLATE`,
  `${directory}/issue_template`,
]);
const DIRECTORIES = [
  "ISSUE_TEMPLATE",
  "issue_template",
  ...CONFIG_DIRECTORIES,
  ".gitlab/ISSUE_TEMPLATE",
  ".gitlab/issue_template",
];
const CONFIGS = CONFIG_DIRECTORIES.flatMap((directory) => [
  `${directory}/config.yaml`,
  `${directory}/config.yml`,
]);

/**
 * SECURITY: bounds parsing time, which is up to a second per 64 KB of YAML: maximum bytes per file, and in
 * total.
 */
const FILE_BYTES_MAX = 64 * 1024;
const ALL_BYTES_MAX = 256 * 1024;
const TEMPLATES_MAX = 50;

/**
 * Lists the issue templates of the default branch, skipping invalid ones.
 *
 * Cost: one read per template directory, and one per template.
 */
export async function listIssueTemplates(
  ctx: Ctx,
  repo: RepositoryContext,
): Promise<IssueTemplate[]> {
  const opened = await openDefault(ctx, repo);
  if (!opened) return [];
  const { repository, root } = opened;
  const { catalog, objects } = repository;
  const templates: IssueTemplate[] = [];
  const found = await findEntries(repository, root, DIRECTORIES.map(splitPath));
  let filesLeft = TEMPLATES_MAX;
  let bytesLeft = ALL_BYTES_MAX;
  for (const [at, directory] of found.entries()) {
    const location =
      directory && isTreeMode(directory.mode) ? catalog.find(directory.oid) : undefined;
    const files = location ? parseTree(await objects.readAt(location)) : [];
    for (const file of files) {
      const name = decodeText(file.name);
      if (!/\.(?:md|ya?ml)$/i.test(name) || /^config\.ya?ml$/i.test(name)) continue;
      const text = filesLeft-- > 0 ? await readText(repository, file, bytesLeft) : undefined;
      bytesLeft -= text?.length ?? 0;
      const template =
        text === undefined
          ? undefined
          : await readIssueTemplate(`${DIRECTORIES[at]}/${name}`, text);
      if (template) templates.push(template);
    }
  }
  return templates;
}

/** Finds the issue configuration on the default branch. Returns an error message for an invalid one. */
export async function findIssueConfig(
  ctx: Ctx,
  repo: RepositoryContext,
): Promise<IssueConfig | string> {
  const opened = await openDefault(ctx, repo);
  if (!opened) return DEFAULT_ISSUE_CONFIG;
  const { repository, root } = opened;
  const found = await findEntries(repository, root, CONFIGS.map(splitPath));
  const file = found.find((each) => each !== undefined);
  if (!file) return DEFAULT_ISSUE_CONFIG;
  const text = await readText(repository, file);
  return text === undefined ? "not a file, or too large" : readIssueConfig(text);
}

/** Undefined if the default branch does not exist. */
async function openDefault(ctx: Ctx, repo: RepositoryContext) {
  const snapshot = await openSnapshot(ctx, repo);
  const revision = findContentRevision(snapshot, repo, "");
  const root = revision && snapshot.repository.graph.root(revision.node);
  return root && { repository: snapshot.repository, root };
}

/** Undefined if the entry is not a file, or is too large. */
async function readText(
  { catalog, objects }: OpenRepository,
  { mode, oid }: TreeEntry,
  bytesMax = FILE_BYTES_MAX,
): Promise<string | undefined> {
  const isFile = !isTreeMode(mode) && !isSymlinkMode(mode) && !isSubmoduleMode(mode);
  const location = isFile ? catalog.find(oid) : undefined;
  const isRead = location && catalog.sizeBytes(location) <= Math.min(bytesMax, FILE_BYTES_MAX);
  if (!isRead || objects.findLarge(oid)) return undefined;
  return decodeText(readByteText(await objects.readAt(location)));
}
