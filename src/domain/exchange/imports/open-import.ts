import { eq } from "drizzle-orm";

import { isAllowed } from "../../../auth/access/permission.ts";
import { accountActor } from "../../../auth/actor.ts";
import { callerSql } from "../../../auth/caller-sql.ts";
import { seal, unseal } from "../../../auth/seal.ts";
import type { Ctx } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { type Import, imports, repositories, users } from "../../../db/schema/index.ts";
import { StepAnswers } from "../../../forges/step-answers.ts";
import { canSeeSecrets } from "../../../outgoing/redirect.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import { wikiUrlOf } from "../remotes/fetch-wiki.ts";
import { openRemote } from "../remotes/open-remote.ts";
import { formatAuthorization } from "../remotes/remote-address.ts";
import { RemoteFailure } from "../../../outgoing/remote-failure.ts";
import { selectRepositories, toRepositoryContext } from "../../repos/repository/find-repository.ts";
import type { ImportSource } from "./import-job.ts";
import { selectAnswers } from "./stored-answers.ts";

/** The purpose that the passwords of imports are sealed for. */
const SEALED_FOR_IMPORTS = "import.password";

/**
 * The user name with which a token is sent, as the field does it: forges take any with a token as
 * the password.
 */
export const TOKEN_USER = "oauth2";

/** Seals the password of an import. @returns Null for none. */
export const sealImportPassword = async (
  { config }: Pick<Ctx, "config">,
  password: string,
): Promise<string | null> =>
  password === "" ? null : seal(config.sealingKeys, password, SEALED_FOR_IMPORTS);

/**
 * An import with its repository, and the context in which it goes on: of the account that asked for
 * it.
 */
export interface OpenedImport {
  readonly ctx: Ctx;
  readonly repo: RepositoryContext;
  readonly row: Import;
  /** The stored answers to its present step. */
  readonly answers: StepAnswers;
  /** Whether that account may still administer the repository. */
  readonly isPermitted: boolean;
}

/**
 * Loads an import.
 *
 * SECURITY: it goes on without its caller's credential, so that it ends with the account's right to
 * the repository.
 *
 * @returns Undefined if there is none.
 */
export async function findImportToAdvance(
  ctx: Ctx,
  importId: number,
): Promise<OpenedImport | undefined> {
  const { found, doers, answers } = await batch(ctx.db, {
    found: ctx.db.select().from(imports).where(eq(imports.id, importId)),
    doers: ctx.db
      .select({ user: users })
      .from(users)
      .innerJoin(imports, eq(imports.doerId, users.id))
      .where(eq(imports.id, importId)),
    answers: selectAnswers(ctx.db, importId),
  });
  const [row] = found;
  if (!row) return undefined;
  const [doer] = doers;
  const actor = doer ? accountActor(doer.user) : { ...ctx.actor };
  const [repository] = await selectRepositories(ctx.db, callerSql(actor)).where(
    eq(repositories.id, row.repoId),
  );
  if (!repository) return undefined;
  const repo = toRepositoryContext(actor, repository);
  // The public URL of the service is not known to jobs, unless the configuration has it.
  const publicUrl = ctx.config.publicUrl || row.rootUrl;
  return {
    ctx: { ...ctx, actor, publicUrl, rootUrl: publicUrl },
    repo,
    row,
    answers: new StepAnswers(answers),
    isPermitted: actor.user !== undefined && isAllowed(repo, { mode: "admin" }),
  };
}

/**
 * Opens what an import reads. Asks it nothing yet.
 *
 * @param answers What was answered to the present step.
 * @throws RemoteFailure `unauthorized` if its password can't be unsealed any more. Failure
 * `invalid` for an export that is no longer here.
 */
export async function openSource(
  ctx: Ctx,
  row: Import,
  answers?: StepAnswers,
): Promise<ImportSource> {
  if (row.service === "bundle") {
    const { openExport } = await import("./open-export.ts");
    return openExport(ctx, row);
  }
  const password = await openPassword(ctx, row);
  const { address, username, service } = row;
  const remote = { url: address, username, password };
  const isToken = password !== "" && (username === TOKEN_USER || username === "");
  // The schemas of forges take long to build, and few Workers need them.
  const { openForge } = await import("../../../forges/open-forge.ts");
  return {
    remote: openRemote(ctx, remote),
    ...(row.options.withWiki && {
      wiki: openRemote(ctx, { ...remote, url: wikiUrlOf(address) }),
    }),
    reader:
      service === "git"
        ? undefined
        : openForge(
            service,
            { outgoing: ctx.outgoing, now: Date.now, answers },
            { url: address, username: isToken ? "" : username, password },
            row.options.numbering,
          ),
    authorizationFor(url) {
      const target = URL.parse(url);
      const authorization = formatAuthorization(remote);
      // SECURITY: to no other host, and not from https to http.
      const isOwn = target !== null && canSeeSecrets(new URL(address), target);
      return isOwn && authorization ? { Authorization: authorization } : {};
    },
  };
}

async function openPassword({ config }: Ctx, { sealedPassword }: Import): Promise<string> {
  if (sealedPassword === null) return "";
  const opened = await unseal(config.sealingKeys, sealedPassword, SEALED_FOR_IMPORTS);
  if (opened.kind === "open") return opened.text;
  const reason =
    opened.kind === "key_missing"
      ? "the service no longer has the key that sealed the password"
      : "the password can't be unsealed";
  throw new RemoteFailure("unauthorized", reason);
}
