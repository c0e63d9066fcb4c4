import type { Context } from "hono";
import { z } from "zod";

import type { LfsObject } from "../../db/schema/index.ts";
import { findObjects } from "../../domain/code/lfs/find-objects.ts";
import type { RequestContext } from "../../entrance/enter-repository.ts";
import { conflict, tooLarge } from "../../lib/failure.ts";
import { boundedList } from "../../lib/bounded.ts";
import { defined } from "../../lib/defined.ts";
import { isSha256 } from "../../lib/hex.ts";
import { pause } from "../../lib/time-slice.ts";
import type { GitHttpEnv } from "../env.ts";
import { answerJson, MEDIA_TYPE } from "./dialect.ts";
import { enterToPush, enterToRead } from "./enter-lfs.ts";
import { NamedRef, requireNamedRefInReach } from "./named-ref.ts";
import { readJson } from "./read-json.ts";
import { makeTransferToken, TOKEN_HEADER, type Transfer } from "./transfer-token.ts";
import { htmlUrlOf } from "../../shapes/urls.ts";

const Batch = z.object({
  operation: z.enum(["upload", "download"], "upload or download is expected"),
  objects: boundedList(z.object({ oid: z.string(), size: z.number() })),
  hash_algo: z.string().nullish(),
  ref: NamedRef,
});

/** Steps to seal the tokens of a file. */
const ITEM_STEPS = 10_000;

/** A large file as a client names it. Unvalidated. */
interface Pointer {
  oid: string;
  size: number;
}

export const isValidPointer = ({ oid, size }: Pointer): boolean =>
  isSha256(oid) && Number.isSafeInteger(size) && size >= 0;

/**
 * The URL for a transfer, the headers that the client must send there, and for how many seconds
 * they are valid.
 */
interface Action {
  href: string;
  header: Record<string, string>;
  expires_in?: number;
}

/** The result for one file: transfer actions, an error, or neither if an upload is not needed. */
interface BatchItem extends Pointer {
  /** Whether the actions need no credential of the client's. */
  authenticated?: true;
  actions?: Partial<Record<"download" | "upload" | "verify", Action>>;
  error?: { code: number; message: string };
}

/**
 * Responds with the URLs for downloading or uploading the requested large files.
 *
 * SECURITY: the response repeats no credential of the caller's; each action has a token that is
 * good for it alone.
 *
 * SECURITY: an upload is requested unless this very repository has the file. That another
 * repository has the file, or that the client knows its oid, must not grant access to it.
 *
 * @see git-lfs, docs/api/batch.md.
 */
export async function answerBatch(c: Context<GitHttpEnv>): Promise<Response> {
  const { operation, objects, hash_algo: algorithm, ref } = await readJson(c, Batch);
  if ((algorithm ?? "sha256") !== "sha256") throw conflict("files are named by SHA-256 only");
  const { lfsBatchMax } = c.var.base.config;
  if (objects.length > lfsBatchMax) throw tooLarge(`a batch may have ${lfsBatchMax} files at most`);
  const isUpload = operation === "upload";
  const context = isUpload ? await enterToPush(c) : await enterToRead(c);
  const { ctx, repo } = context;
  if (isUpload) requireNamedRefInReach(ctx.actor, ref);

  const oids = objects.filter(isValidPointer).map(({ oid }) => oid);
  const present = await findObjects(ctx, repo.row, [...new Set(oids)]);
  const linkTo = linker(context);
  // A download may use a nearby D1 replica, with a bookmark so that it sees at least the rows read
  // here. Uploads, and requests after them, start at the primary.
  const bookmark = defined({ "x-d1-bookmark": c.var.findBookmark() });
  const answerItem = async (pointer: Pointer): Promise<BatchItem> => {
    const { oid, size } = pointer;
    const error = findError(pointer, present.get(oid), isUpload, ctx.config.lfsFileMaxBytes);
    if (error) return { oid, size, error };
    if (!isUpload) {
      const download = await linkTo("download", oid, `objects/${oid}`, bookmark);
      return { oid, size, ...authenticated(download), actions: { download } };
    }
    if (present.has(oid)) return { oid, size };
    const [upload, verify] = await Promise.all([
      linkTo("upload", oid, `objects/${oid}/${size}`),
      linkTo("verify", oid, "verify", { Accept: MEDIA_TYPE }),
    ]);
    return { oid, size, ...authenticated(upload), actions: { upload, verify } };
  };
  const items: BatchItem[] = [];
  for (const object of objects) {
    items.push(await answerItem(object));
    await pause(ITEM_STEPS);
  }
  return answerJson({ objects: items });
}

const authenticated = ({ header }: Action): Pick<BatchItem, "authenticated"> =>
  TOKEN_HEADER in header ? { authenticated: true } : {};

function findError(
  pointer: Pointer,
  object: LfsObject | undefined,
  isUpload: boolean,
  bytesMax: number,
): BatchItem["error"] {
  const { oid, size } = pointer;
  if (!isValidPointer(pointer)) return { code: 422, message: "Oid or size are invalid" };
  if (object && object.sizeBytes !== size) {
    return { code: 422, message: `Object ${oid} is not ${size} bytes` };
  }
  if (object) return undefined;
  if (!isUpload) return { code: 404, message: "Not Found" };
  if (size <= bytesMax) return undefined;
  return { code: 422, message: `Size must be less than or equal to ${bytesMax}` };
}

/**
 * Creates a function that builds actions: URLs of the repository's large files, with a token for
 * each.
 */
function linker({ ctx, repo }: RequestContext) {
  const base = `${htmlUrlOf(repo, ctx)}.git/info/lfs`;
  return async (
    operation: Transfer["operation"],
    oid: string,
    path: string,
    header: Record<string, string> = {},
  ): Promise<Action> => {
    const href = `${base}/${path}`;
    const token = await makeTransferToken(ctx, { operation, oid, repoId: repo.row.id });
    if (!token) return { href, header };
    const { text, lifeSeconds } = token;
    return { href, header: { ...header, [TOKEN_HEADER]: text }, expires_in: lifeSeconds };
  };
}
