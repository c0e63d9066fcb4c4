import { type SQL, sql } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { insertSelect } from "../../../db/insert-select.ts";
import {
  FORGE_SERVICES,
  type ForgeService,
  PROJECT_PARTS,
  type ProjectPart,
  pullMirrors,
  type User,
} from "../../../db/schema/index.ts";
import { forbidden, invalid } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { sealMirrorPassword } from "../mirrors/open-mirror.ts";
import { readMirrorInterval } from "../mirrors/mirror-interval.ts";
import { requireMirrorApprover } from "../mirrors/require-mirrors.ts";
import { isRefused, parseRemoteAddress, type RemoteAddress } from "../remotes/remote-address.ts";
import { refuseNarrowToken } from "../../repos/repository/create-repository.ts";
import { unitsOfMirror } from "../../repos/repository/insert-repository.ts";
import { checkRepositoryName } from "../../repos/repository/repository-name.ts";
import { beginImport } from "./begin-import.ts";
import { findAuthors } from "./find-authors.ts";
import { findImportOwner, type ImportOwner, requireMigrations } from "./find-import-owner.ts";
import { sealImportPassword, TOKEN_USER } from "./open-import.ts";

/** The input of an import. */
export interface NewImport extends ImportOwner {
  readonly cloneAddress: string;
  readonly name: string;
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
  readonly withWiki: boolean;
  /** The imported parts besides git; `mirrorParts` replaces them for a mirror. */
  readonly parts: readonly ProjectPart[];
  /** The parts besides git that a mirror synchronizes. */
  readonly mirrorParts: readonly ProjectPart[];
  /** The accounts here of authors there, both by name. */
  readonly authors: Readonly<Record<string, string>>;
}

/** How long a name may take to resolve. */
const CHECK_MS = 5000;

/**
 * Starts the import of a repository, with the selected parts of its project if it is on a forge.
 *
 * The repository exists at once, marked as being migrated; a job imports it. The request waits a
 * while for the job. If the import fails within that time, the repository is removed again;
 * afterwards it stays and shows the state of the import.
 *
 * @throws Failure `invalid` for everything that is wrong with the address or the other side, for
 * unknown owners and the maximum number of repositories; `forbidden` without the right to create
 * repositories there, where migrations or mirrors are switched off, for authors by callers other
 * than administrators, and for a token that is too narrow; `conflict` for a name that exists.
 */
export async function startImport(
  ctx: Ctx,
  creator: User,
  input: NewImport,
): Promise<RepositoryContext> {
  requireMigrations(ctx);
  const creation = await findImportOwner(ctx, creator, input);
  const { owner } = creation;
  checkRepositoryName(input.name, "repo_name");
  refuseNarrowToken(ctx, input.isPrivate || owner.visibility !== "public");
  const address = await checkAddress(ctx, input);
  const largeFilesUrl = await checkLargeFilesUrl(ctx, input.largeFilesUrl);
  const intervalSeconds = input.isMirror ? readInterval(ctx, input.mirrorInterval) : 0;
  if (input.isMirror) requireMirrorApprover(ctx);
  const authors = await findAuthors(ctx, input.authors);
  const service = toService(input.service);
  const parts = service === "git" ? [] : input.isMirror ? input.mirrorParts : input.parts;
  const plan: Plan = {
    address,
    service,
    intervalSeconds,
    parts: PROJECT_PARTS.filter((part) => parts.includes(part)),
    largeFilesUrl,
    authors,
  };
  return beginImport(ctx, creation, ...(await toColumns(ctx, input, plan, creation.creator)));
}

/** The validated part of the input. */
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

async function checkAddress(ctx: Ctx, input: NewImport): Promise<RemoteAddress> {
  const { token, username, password, cloneAddress } = input;
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

/** The columns of the repository, those of the import, and the row of its mirror. */
async function toColumns(
  ctx: Ctx,
  input: NewImport,
  { address, service, parts, intervalSeconds, largeFilesUrl, authors }: Plan,
  creator: User,
) {
  const { name, description, isPrivate, isMirror, withLargeFiles, withWiki } = input;
  const { now } = ctx;
  const [importPassword, mirrorPassword] = await Promise.all([
    sealImportPassword(ctx, address.password),
    isMirror ? sealMirrorPassword(ctx, address.password) : null,
  ]);
  const source = { address: address.url, username: address.username, service };
  const lfs = { withLargeFiles, largeFilesUrl };
  const columns = {
    name,
    description,
    isPrivate,
    isMirror,
    origin: {
      url: address.url,
      import: "running" as const,
      ...(isMirror && { mirror: { intervalSeconds, syncedAt: null, parts } }),
    },
    ...(isMirror && unitsOfMirror(parts)),
  };
  const row = {
    ...source,
    sealedPassword: importPassword,
    options: { parts, ...lfs, withWiki, authors, readAt: now },
    notes: notesOf(input, service),
  };
  const mirror = {
    ...source,
    ...lfs,
    withWiki,
    sealedPassword: mirrorPassword,
    approverId: creator.id,
    intervalSeconds,
    parts,
    createdAt: now,
  };
  const toMirror = (repoId: SQL<number>) =>
    isMirror ? [insertSelect(ctx.db, pullMirrors, { ...mirror, repoId }, sql``)] : [];
  return [columns, row, toMirror] as const;
}

/** Notes about the requested parts that are never imported. */
function notesOf({ service: named }: NewImport, service: ForgeService): string[] {
  const isOther = service === "git" && !["", "git"].includes(named.toLowerCase());
  return isOther ? [`of ${JSON.stringify(named)} only git is taken over`] : [];
}
