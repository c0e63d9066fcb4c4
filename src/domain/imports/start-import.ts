import { eq, sql } from "drizzle-orm";

import { callerSql } from "../../auth/caller-sql.ts";
import { hasScope } from "../../auth/scope.ts";
import type { Ctx } from "../../context.ts";
import { insertSelect } from "../../db/insert-select.ts";
import {
  FORGE_SERVICES,
  type ForgeService,
  type Import,
  imports,
  PROJECT_PARTS,
  type ProjectPart,
  pullMirrors,
  type User,
  users,
} from "../../db/schema/index.ts";
import { record } from "../../events/record.ts";
import { Failure, forbidden, invalid } from "../../lib/failure.ts";
import type { RepositoryContext } from "../../shapes/repos/repository.ts";
import { isAccountNamed, isSeen, selectAccounts, toMembership } from "../accounts/find-account.ts";
import { sealMirrorPassword } from "../mirrors/open-mirror.ts";
import { readMirrorInterval } from "../mirrors/mirror-interval.ts";
import { requireMirrorApprover } from "../mirrors/require-mirrors.ts";
import { isRefused, parseRemoteAddress, type RemoteAddress } from "../remotes/remote-address.ts";
import { refuseNarrowToken } from "../repos/create-repository.ts";
import { deleteRepository } from "../repos/delete-repository.ts";
import {
  type CreationContext,
  insertRepository,
  unitsOfMirror,
} from "../repos/insert-repository.ts";
import { repositoryLimit } from "../repos/repository-limit.ts";
import { checkRepositoryName } from "../repos/repository-name.ts";
import { findVisibleRepository } from "../repos/find-repository.ts";
import { sealImportPassword, TOKEN_USER } from "./open-import.ts";

/** What the caller wants. */
export interface NewImport {
  readonly cloneAddress: string;
  readonly name: string;
  /** By name, or else by id; the caller without either. */
  readonly ownerName: string;
  readonly ownerId: number;
  /** Any that is not one of the known forges is plain git. */
  readonly service: string;
  readonly username: string;
  readonly password: string;
  readonly token: string;
  readonly isMirror: boolean;
  /** A Go duration; "" for the default. */
  readonly mirrorInterval: string;
  readonly isPrivate: boolean;
  readonly description: string;
  readonly withLargeFiles: boolean;
  readonly largeFilesUrl: string;
  readonly wantsWiki: boolean;
  /** What is taken besides git; of a mirror nothing, unless `mirrorParts` says so. */
  readonly parts: readonly ProjectPart[];
  /** What a mirror keeps in step besides git. */
  readonly mirrorParts: readonly ProjectPart[];
  /** The accounts here of authors there, both by name. */
  readonly authors: Readonly<Record<string, string>>;
}

/** How long a name may take to resolve. */
const CHECK_MS = 5000;

/** Pauses between two looks at an import that the request waits for, in milliseconds. */
const LOOK_MIN_MS = 50;
const LOOK_MAX_MS = 500;

/** Authors that one request maps. */
export const AUTHORS_MAX = 1000;

/**
 * Starts to take over a repository, and of a forge what goes with it.
 *
 * The repository exists at once, with the mark that it is being migrated; a job does the work. The request waits a while for
 * its end. What fails within that time is removed again; what goes on, or fails later, stays and says so.
 *
 * @throws Failure `invalid` for everything that is wrong with the address or the other side, for unknown owners and the
 * maximum number of repositories; `forbidden` without the right to create repositories there, where migrations or mirrors
 * are switched off, for authors by callers other than administrators, and for a token that is too narrow; `conflict` for a
 * name that exists.
 */
export async function startImport(
  ctx: Ctx,
  creator: User,
  wanted: NewImport,
): Promise<RepositoryContext> {
  requireMigrations(ctx);
  const creation = await findOwner(ctx, creator, wanted);
  const { owner } = creation;
  checkRepositoryName(wanted.name, "repo_name");
  refuseNarrowToken(ctx, wanted.isPrivate || owner.visibility !== "public");
  const address = await checkAddress(ctx, wanted);
  const largeFilesUrl = await checkLargeFilesUrl(ctx, wanted.largeFilesUrl);
  const intervalSeconds = wanted.isMirror ? readInterval(ctx, wanted.mirrorInterval) : 0;
  if (wanted.isMirror) requireMirrorApprover(ctx);
  const authors = await findAuthors(ctx, wanted.authors);
  const service = toService(wanted.service);
  const parts = service === "git" ? [] : wanted.isMirror ? wanted.mirrorParts : wanted.parts;
  const plan: Plan = {
    address,
    service,
    intervalSeconds,
    parts: PROJECT_PARTS.filter((part) => parts.includes(part)),
    largeFilesUrl,
    authors,
  };
  const repo = await insertImported(ctx, creation, wanted, plan);
  const started = await findImportId(ctx, repo.row.id);
  await ctx.remoteJobs.send([{ kind: "import", importId: started }]);
  return waitForEnd(ctx, repo, started);
}

function requireMigrations({ config }: Pick<Ctx, "config">): void {
  if (config.areMigrationsDisabled) {
    throw forbidden("the site administrator has disabled migrations");
  }
}

/** What is not as the caller wrote it. */
interface Plan {
  readonly address: RemoteAddress;
  readonly service: ForgeService;
  readonly intervalSeconds: number;
  readonly parts: ProjectPart[];
  readonly largeFilesUrl: string;
  readonly authors: Record<string, number>;
}

const toService = (name: string): ForgeService =>
  FORGE_SERVICES.find((service) => service === name.toLowerCase()) ?? "git";

/**
 * Finds the owner of the new repository.
 *
 * SECURITY: an account that the caller may not see does not exist.
 */
async function findOwner(
  ctx: Ctx,
  creator: User,
  { ownerName, ownerId }: NewImport,
): Promise<CreationContext> {
  const { actor, db } = ctx;
  const isSelf =
    ownerName === ""
      ? ownerId === 0 || ownerId === creator.id
      : ownerName.toLowerCase() === creator.lowerName;
  if (isSelf) return { owner: creator, creator, ownsOwner: true };
  const isWanted = ownerName === "" ? eq(users.id, ownerId) : isAccountNamed(ownerName);
  const [row] = await selectAccounts(db, callerSql(actor)).where(isWanted);
  if (!row || !isSeen(actor, row)) {
    const uid = ownerName === "" ? ownerId : 0;
    throw invalid(`user does not exist [uid: ${uid}, name: ${ownerName}]`);
  }
  const { account: owner } = row;
  if (owner.kind === "user") {
    if (!actor.isSiteAdmin) throw forbidden("Given user is not an organization.");
    return { owner, creator, ownsOwner: true };
  }
  const { canCreateRepository, isOwner } = toMembership(actor, row);
  if (!canCreateRepository) throw forbidden("Given user is not owner of organization.");
  return { owner, creator, ownsOwner: isOwner };
}

async function checkAddress(ctx: Ctx, wanted: NewImport): Promise<RemoteAddress> {
  const { token, username, password, cloneAddress } = wanted;
  const given = token === "" ? { username, password } : { username: TOKEN_USER, password: token };
  const address = parseRemoteAddress(cloneAddress, given);
  if (isRefused(address)) {
    switch (address.refusal) {
      case "local":
        throw invalid("You are not allowed to import local repositories.");
      case "scheme":
        throw invalid(
          `migration/cloning from '${address.host}' is not allowed: the provided url protocol is not allowed`,
        );
      case "malformed":
        throw invalid("The provided URL is invalid.");
      case "credentials":
        throw invalid("The provided credentials are invalid.");
      default:
        throw address.refusal satisfies never;
    }
  }
  await checkHost(ctx, address.url);
  return address;
}

/** Checks an address before it is stored. It is checked again on each request. */
async function checkHost({ outgoing }: Ctx, url: string): Promise<void> {
  const refusal = await outgoing.check(url, CHECK_MS);
  if (refusal?.kind === "blocked") throw invalid("You can not import from disallowed hosts.");
}

async function checkLargeFilesUrl(ctx: Ctx, text: string): Promise<string> {
  if (text === "") return "";
  const address = parseRemoteAddress(text);
  const hasCredentials =
    !isRefused(address) && (address.username !== "" || address.password !== "");
  if (isRefused(address) || hasCredentials) throw invalid("The LFS endpoint is not valid.");
  await checkHost(ctx, address.url);
  return address.url;
}

function readInterval({ config }: Ctx, text: string): number {
  if (!config.mirrors.isNewPullAllowed) {
    throw forbidden("the site administrator has disabled the creation of new pull mirrors");
  }
  if (text === "") return config.mirrors.defaultIntervalSeconds;
  const interval = readMirrorInterval(text, config.mirrors);
  if (typeof interval !== "number") throw invalid(interval.reason);
  return interval;
}

/**
 * Finds the accounts of authors.
 *
 * SECURITY: what is taken over then counts as written by these accounts. Only an administrator of the service may say so,
 * who could sign in as any of them.
 */
async function findAuthors(
  { actor, db }: Ctx,
  authors: NewImport["authors"],
): Promise<Record<string, number>> {
  const entries = Object.entries(authors);
  if (entries.length === 0) return {};
  if (!actor.isSiteAdmin) throw forbidden("authors are mapped by administrators of the service");
  // SECURITY: a token for repositories alone speaks for nobody, not even where its account administers the service.
  if (!hasScope(actor.scopes, "write:admin")) {
    throw forbidden("authors are mapped by tokens with write:admin");
  }
  if (entries.length > AUTHORS_MAX) throw invalid(`at most ${AUTHORS_MAX} authors can be mapped`);
  const names = JSON.stringify(entries.map(([, name]) => name.toLowerCase()));
  const found = await db
    .select({ id: users.id, lowerName: users.lowerName })
    .from(users)
    .where(
      sql`${users.lowerName} in (select value from json_each(${names})) and ${users.kind} = 'user'`,
    );
  const ids = new Map(found.map(({ id, lowerName }) => [lowerName, id]));
  return Object.fromEntries(
    entries.map(([author, name]) => {
      const id = ids.get(name.toLowerCase());
      if (id === undefined) throw invalid(`user does not exist [uid: 0, name: ${name}]`);
      return [author.toLowerCase(), id];
    }),
  );
}

/** Writes the repository, its import and its mirror in one batch. */
async function insertImported(
  ctx: Ctx,
  creation: CreationContext,
  wanted: NewImport,
  plan: Plan,
): Promise<RepositoryContext> {
  const { db, now, config } = ctx;
  const { owner, creator } = creation;
  const { address, service, parts, intervalSeconds } = plan;
  const { isMirror, withLargeFiles } = wanted;
  const [importPassword, mirrorPassword] = await Promise.all([
    sealImportPassword(ctx, address.password),
    isMirror ? sealMirrorPassword(ctx, address.password) : null,
  ]);
  const objectName = crypto.randomUUID();
  const columns = {
    objectName,
    networkName: objectName,
    name: wanted.name,
    description: wanted.description,
    isPrivate: wanted.isPrivate,
    defaultBranch: config.defaultBranch,
    isMirror,
    origin: {
      url: address.url,
      import: "running" as const,
      ...(isMirror && { mirror: { intervalSeconds, syncedAt: null, parts } }),
    },
    ...(isMirror && unitsOfMirror(parts)),
  };
  const source = { address: address.url, username: address.username, service };
  const lfs = { withLargeFiles, largeFilesUrl: plan.largeFilesUrl };
  try {
    return await insertRepository(
      ctx,
      creation,
      columns,
      (repoId) =>
        record(ctx, { type: "repository.created", repoId, ownerId: owner.id, name: wanted.name }),
      (repoId) => [
        insertSelect(
          db,
          imports,
          {
            ...source,
            repoId,
            doerId: creator.id,
            sealedPassword: importPassword,
            wishes: { parts, ...lfs, authors: plan.authors, readAt: now },
            notes: notesOf(wanted, service),
            dueAt: now,
            rootUrl: config.publicUrl === "" ? ctx.publicUrl : "",
            createdAt: now,
          },
          sql``,
        ),
        ...(isMirror
          ? [
              insertSelect(
                db,
                pullMirrors,
                {
                  ...source,
                  ...lfs,
                  repoId,
                  sealedPassword: mirrorPassword,
                  approverId: creator.id,
                  intervalSeconds,
                  parts,
                  createdAt: now,
                },
                sql``,
              ),
            ]
          : []),
      ],
    );
  } catch (error) {
    if (error instanceof Failure && error.kind === "forbidden") {
      const limit = repositoryLimit(ctx, owner);
      throw invalid(`You have already reached your limit of ${limit} repositories.`);
    }
    throw error;
  }
}

/** What is known from the beginning not to come. */
function notesOf({ wantsWiki, service: named }: NewImport, service: ForgeService): string[] {
  const isOther = service === "git" && !["", "git"].includes(named.toLowerCase());
  return [
    ...(wantsWiki ? ["the wiki was left out: this service has no wikis"] : []),
    ...(isOther ? [`of ${JSON.stringify(named)} only git is taken over`] : []),
  ];
}

async function findImportId({ db }: Ctx, repoId: number): Promise<number> {
  const [row] = await db.select({ id: imports.id }).from(imports).where(eq(imports.repoId, repoId));
  if (!row) throw new Error("a repository without its import");
  return row.id;
}

/** Waits while the import goes on, as long as the configuration says. */
async function waitForEnd(
  ctx: Ctx,
  repo: RepositoryContext,
  importId: number,
): Promise<RepositoryContext> {
  const endsAt = Date.now() + ctx.config.migrationWaitMs;
  let pauseMs = LOOK_MIN_MS;
  let row: Pick<Import, "state" | "lastError"> | undefined = { state: "running", lastError: "" };
  while (row?.state === "running" && Date.now() < endsAt) {
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    pauseMs = Math.min(pauseMs * 2, LOOK_MAX_MS);
    [row] = await ctx.db
      .select({ state: imports.state, lastError: imports.lastError })
      .from(imports)
      .where(eq(imports.id, importId));
  }
  if (row?.state === "failed") {
    await deleteRepository(ctx, repo);
    throw invalid(row.lastError);
  }
  // It may be renamed, or deleted, by an administrator meanwhile.
  return (await findVisibleRepository(ctx, repo.owner.name, repo.row.name)) ?? repo;
}
