import { isAllowed } from "../../../auth/access/permission.ts";
import type { Ctx } from "../../../context.ts";
import { decodeText, readByteText } from "../../../git/byte-text.ts";
import {
  isSubmoduleMode,
  isSymlinkMode,
  isTreeMode,
  parseTree,
  type TreeEntry,
} from "../../../git/object/tree.ts";
import { resident } from "../../../git/catalog/block-pool.ts";
import type { ObjectLocation } from "../../../git/catalog/pack-catalog.ts";
import type { StepBudget } from "../../../lib/step-budget.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { OpenRepository } from "../../../storage/open-repository.ts";
import { findContentRevision, findEntries, splitPath } from "../../code/contents/find-entry.ts";
import { openSnapshot, type RepositorySnapshot } from "../../code/git/open-snapshot.ts";
import { DEFAULT_ISSUE_CONFIG, type IssueConfig, readIssueConfig } from "./issue-config.ts";
import { type IssueTemplate, readIssueTemplate, readPullTemplate } from "./issue-template.ts";

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
 * SECURITY: bounds parsing time, which is up to a second per 64 KB of YAML: maximum bytes per file,
 * and in total.
 */
const FILE_BYTES_MAX = 64 * 1024;
const ALL_BYTES_MAX = 256 * 1024;
const TEMPLATES_MAX = 50;
/** Steps to parse one character of an ordinary file. */
const STEPS_PER_CHAR = 200;

/** The source from which files are read. */
type Reader = Pick<OpenRepository, "catalog" | "objects">;

const within = ({ catalog, objects }: Reader, budget: StepBudget): Reader => ({
  catalog,
  objects: objects.within(budget),
});

/** The issue templates of a repository. */
export interface IssueTemplates {
  readonly templates: readonly IssueTemplate[];
  /** The number of invalid ones, which are skipped. */
  readonly invalidCount: number;
}

const NO_TEMPLATES: IssueTemplates = { templates: [], invalidCount: 0 };

/**
 * Lists the issue templates of the default branch.
 *
 * Cost: for a tree that is not cached, one read per template directory, and one per template.
 */
export async function listIssueTemplates(
  ctx: Ctx,
  repo: RepositoryContext,
): Promise<IssueTemplates> {
  const opened = await openDefault(ctx, repo);
  if (!opened) return NO_TEMPLATES;
  return readTemplates(opened);
}

const readTemplates = ({ repository, root, rootOid }: Opened): Promise<IssueTemplates> =>
  repository.results.getOrCompute(
    ["issue templates", rootOid],
    async (budget): Promise<IssueTemplates> => {
      const counted = within(repository, budget);
      const templates: IssueTemplate[] = [];
      let invalidCount = 0;
      let bytesLeft = ALL_BYTES_MAX;
      for (const { path, file } of await findTemplateFiles(counted, root)) {
        const isRead = templates.length + invalidCount < TEMPLATES_MAX && !budget.isExhausted;
        const text = isRead ? await readText(counted, file, bytesLeft) : undefined;
        bytesLeft -= text?.length ?? 0;
        budget.consume(STEPS_PER_CHAR * (text?.length ?? 0));
        const template = text === undefined ? undefined : await readIssueTemplate(path, text);
        if (template) templates.push(template);
        else invalidCount++;
      }
      return { templates, invalidCount };
    },
  );

/** Files in the order of the directories, then of their names. */
async function findTemplateFiles(
  repository: Reader,
  root: ObjectLocation,
): Promise<{ path: string; file: TreeEntry }[]> {
  const { catalog, objects } = repository;
  const files: { path: string; file: TreeEntry }[] = [];
  const found = await findEntries(repository, root, DIRECTORIES.map(splitPath));
  for (const [at, directory] of found.entries()) {
    const location =
      directory && isTreeMode(directory.mode)
        ? await resident(() => catalog.find(directory.oid))
        : undefined;
    for (const file of location ? parseTree(await objects.readAt(location)) : []) {
      const name = decodeText(file.name);
      const isTemplate = /\.(?:md|ya?ml)$/i.test(name) && !/^config\.ya?ml$/i.test(name);
      if (isTemplate && isFile(file)) files.push({ path: `${DIRECTORIES[at]}/${name}`, file });
    }
  }
  return files;
}

/**
 * The issue configuration of a repository, and where it is; `path` is undefined if there is none.
 */
export interface FoundConfig {
  readonly path: string | undefined;
  /** An error message if it is invalid. */
  readonly config: IssueConfig | string;
}

/** Finds the issue configuration on the default branch. */
export async function findIssueConfig(ctx: Ctx, repo: RepositoryContext): Promise<FoundConfig> {
  const opened = await openDefault(ctx, repo);
  return opened ? readConfig(opened) : NO_CONFIG;
}

const NO_CONFIG: FoundConfig = { path: undefined, config: DEFAULT_ISSUE_CONFIG };

const readConfig = ({ repository, root, rootOid }: Opened): Promise<FoundConfig> =>
  repository.results.getOrCompute(
    ["issue configuration", rootOid],
    async (budget): Promise<FoundConfig> => {
      const counted = within(repository, budget);
      const found = await findEntries(counted, root, CONFIGS.map(splitPath));
      const at = found.findIndex((each) => each !== undefined);
      const file = found[at];
      if (!file) return NO_CONFIG;
      const text = await readText(counted, file);
      budget.consume(STEPS_PER_CHAR * (text?.length ?? 0));
      const config = text === undefined ? "not a file, or too large" : await readIssueConfig(text);
      return { path: CONFIGS[at], config };
    },
  );

/** What a new issue may begin with. */
export interface IssueForms extends IssueTemplates {
  /** That of the repository; the default where it is invalid. */
  readonly config: IssueConfig;
  /** Whether an issue needs a template: the configuration says so, and there is one. */
  readonly isTemplateNeeded: boolean;
}

/**
 * Finds the templates for a new issue, and the configuration. Who may not read the code has none.
 *
 * Cost: as `listIssueTemplates`; the snapshot is opened once.
 */
export async function findIssueForms(ctx: Ctx, repo: RepositoryContext): Promise<IssueForms> {
  const isReadable = !repo.row.isEmpty && isAllowed(repo, { unit: "code", mode: "read" });
  const opened = isReadable ? await openDefault(ctx, repo) : undefined;
  if (!opened) {
    return { ...NO_TEMPLATES, config: DEFAULT_ISSUE_CONFIG, isTemplateNeeded: false };
  }
  const [found, { config: read }] = [await readTemplates(opened), await readConfig(opened)];
  const config = typeof read === "string" ? DEFAULT_ISSUE_CONFIG : read;
  const isTemplateNeeded = !config.isBlankAllowed && found.templates.length > 0;
  return { ...found, config, isTemplateNeeded };
}

/**
 * The path of the configuration that disables blank issues, if there are templates to choose from;
 * undefined otherwise.
 */
export async function findBlankIssueRule(
  ctx: Ctx,
  repo: RepositoryContext,
): Promise<string | undefined> {
  const opened = await openDefault(ctx, repo);
  if (!opened) return undefined;
  const { path, config } = await readConfig(opened);
  if (typeof config === "string" || config.isBlankAllowed) return undefined;
  const { templates } = await readTemplates(opened);
  return templates.length > 0 ? path : undefined;
}

type Opened = NonNullable<Awaited<ReturnType<typeof openDefault>>>;

/** The files with the template of pull requests, the first one found first, as in Gitea. */
const PULL_TEMPLATES = ["", ".gitea/", ".github/"].flatMap((directory) =>
  ["PULL_REQUEST_TEMPLATE", "pull_request_template"].flatMap((name) =>
    ["md", "yaml", "yml"].map((ending) => `${directory}${name}.${ending}`),
  ),
);

/**
 * Finds the template for pull requests on the default branch. A form that is invalid is skipped.
 *
 * Cost: for a tree that is not cached, one read per directory, and one of the file.
 *
 * @param snapshot Of the repository of the base.
 */
export async function findPullTemplate(
  snapshot: RepositorySnapshot,
  repo: RepositoryContext,
): Promise<IssueTemplate | undefined> {
  const opened = await openRoot(snapshot, repo);
  if (!opened) return undefined;
  const { repository, root, rootOid } = opened;
  const found = await repository.results.getOrCompute(
    ["pull request template", rootOid],
    async (budget): Promise<IssueTemplate | null> => {
      const counted = within(repository, budget);
      for (const [at, file] of (
        await findEntries(counted, root, PULL_TEMPLATES.map(splitPath))
      ).entries()) {
        const text = file && (await readText(counted, file));
        if (text === undefined) continue;
        budget.consume(STEPS_PER_CHAR * text.length);
        const parsed = await readPullTemplate(PULL_TEMPLATES[at] ?? "", text);
        if (parsed) return parsed;
      }
      return null;
    },
  );
  return found ?? undefined;
}

const openDefault = async (ctx: Ctx, repo: RepositoryContext) =>
  openRoot(await openSnapshot(ctx, repo), repo);

/** Opens the root of the default branch; undefined if that does not exist. */
async function openRoot(snapshot: RepositorySnapshot, repo: RepositoryContext) {
  const revision = await findContentRevision(snapshot, repo, "");
  const root = revision && (await snapshot.repository.graph.loadRoot(revision.node));
  if (!root) return undefined;
  const { repository } = snapshot;
  return { repository, root, rootOid: await resident(() => repository.catalog.oid(root)) };
}

/** Undefined if the entry is not a file, or is too large. */
async function readText(
  { catalog, objects }: Reader,
  entry: TreeEntry,
  bytesMax = FILE_BYTES_MAX,
): Promise<string | undefined> {
  const { oid } = entry;
  const found = isFile(entry) ? await catalog.findSized(oid) : undefined;
  const isRead = found && found.sizeBytes <= Math.min(bytesMax, FILE_BYTES_MAX);
  if (!isRead || (await resident(() => objects.findLarge(oid)))) return undefined;
  return decodeText(readByteText(await objects.readAt(found.location)));
}

const isFile = ({ mode }: TreeEntry): boolean =>
  !isTreeMode(mode) && !isSymlinkMode(mode) && !isSubmoduleMode(mode);
