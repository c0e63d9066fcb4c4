import { and, eq } from "drizzle-orm";

import type { Ctx } from "../../../context.ts";
import { PROJECT_PARTS, repositories, type User } from "../../../db/schema/index.ts";
import { conflict, Failure } from "../../../lib/failure.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import {
  dropLooseFile,
  type LooseFile,
  storeLooseFile,
} from "../../issues/attachments/receive-file.ts";
import { ExportArchive } from "../exports/export-archive.ts";
import { refuseNarrowToken } from "../../repos/repository/create-repository.ts";
import { type CreationContext, unitsOfProject } from "../../repos/repository/insert-repository.ts";
import { checkRepositoryName } from "../../repos/repository/repository-name.ts";
import { beginImport } from "./begin-import.ts";
import { findAuthors } from "./find-authors.ts";
import { findImportOwner, requireMigrations } from "./find-import-owner.ts";
import { sourceOfExport } from "./open-export.ts";

/** The input of an import of an export. */
export interface NewExportImport {
  /** The owner by name; "" for the caller. */
  readonly ownerName: string;
  /** "" for that of the manifest. */
  readonly name: string;
  /** Undefined for the visibility in the manifest. */
  readonly isPrivate: boolean | undefined;
  /** The accounts here of authors there, both by name. */
  readonly authors: Readonly<Record<string, string>>;
}

/**
 * Starts to take over a repository from an export: as `startImport`, with the file in place of a
 * service elsewhere.
 *
 * All that needs no file is checked before it is received. The file is kept until the import is
 * done; of one that is refused nothing is left.
 *
 * @param pieces The export.
 * @throws Failure `too_large` beyond the configured size; `invalid` for what is no export of this
 * service, and as `startImport`.
 */
export async function importExport(
  ctx: Ctx,
  creator: User,
  input: NewExportImport,
  pieces: AsyncGenerator<Uint8Array>,
): Promise<RepositoryContext> {
  const { creation, authors } = await checkRequest(ctx, creator, input).catch(
    async (error: unknown) => {
      await pieces.return(undefined);
      throw error;
    },
  );
  const file = await storeLooseFile(ctx, pieces, ctx.config.importMaxBytes);
  try {
    return await importFile(ctx, creation, input, authors, file);
  } catch (error) {
    // After any other error it is unknown whether an import refers to the file: then its note
    // expires.
    if (error instanceof Failure) dropLooseFile(ctx, file.uuid);
    throw error;
  }
}

async function checkRequest(ctx: Ctx, creator: User, input: NewExportImport) {
  requireMigrations(ctx);
  const { ownerName, name } = input;
  const creation = await findImportOwner(ctx, creator, { ownerName, ownerId: 0 });
  const { owner } = creation;
  refuseNarrowToken(ctx, input.isPrivate === true || owner.visibility !== "public");
  const authors = await findAuthors(ctx, input.authors);
  if (name === "") return { creation, authors };
  checkRepositoryName(name);
  const isThis = and(
    eq(repositories.ownerId, owner.id),
    eq(repositories.lowerName, name.toLowerCase()),
  );
  const [taken] = await ctx.db.select({ id: repositories.id }).from(repositories).where(isThis);
  if (taken) throw conflict("The repository with the same name already exists.");
  return { creation, authors };
}

async function importFile(
  ctx: Ctx,
  creation: CreationContext,
  input: NewExportImport,
  authors: Record<string, number>,
  { uuid, sizeBytes }: LooseFile,
): Promise<RepositoryContext> {
  const file = { uuid, sizeBytes };
  const { project } = (await ExportArchive.open(sourceOfExport(ctx, file))).manifest;
  const name = input.name || project.name;
  checkRepositoryName(name);
  const isPrivate = input.isPrivate ?? project.isPrivate;
  refuseNarrowToken(ctx, isPrivate || creation.owner.visibility !== "public");
  return beginImport(
    ctx,
    creation,
    {
      name,
      description: project.description,
      isPrivate,
      origin: { url: toShownUrl(project.htmlUrl), import: "running" },
      ...unitsOfProject(project),
    },
    {
      service: "bundle",
      address: "",
      username: "",
      sealedPassword: null,
      options: {
        parts: [...PROJECT_PARTS],
        withLargeFiles: true,
        largeFilesUrl: "",
        authors,
        readAt: ctx.now,
        file,
      },
      notes: [],
    },
  );
}

/** The address of the exported repository in the manifest; "" unless it is one of a web page. */
function toShownUrl(text: string): string {
  const url = URL.parse(text);
  const isPage = url !== null && /^https?:$/.test(url.protocol);
  return isPage && url.username === "" && url.password === "" ? url.href : "";
}
