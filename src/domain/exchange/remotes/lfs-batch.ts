import { z } from "zod";

import type { Ctx } from "../../../context.ts";
import { boundedList, boundedRecord } from "../../../lib/bounded.ts";
import { parseJson } from "../../../lib/json.ts";
import { RemoteFailure } from "../../../outgoing/remote-failure.ts";
import { retryTimeOf } from "../../../forges/rate-limit.ts";
import type { LfsPointer } from "../../code/contents/lfs-pointer.ts";

const MEDIA_TYPE = "application/vnd.git-lfs+json";
const LIMITS = { timeoutMs: 30_000, bodyBytesMax: 5_000_000, redirectsMax: 5 };

const Action = z.object({
  href: z.string(),
  header: boundedRecord(z.string(), 100).nullish(),
});
/** A request that moves a large file. */
export type LfsAction = z.infer<typeof Action>;

/** The read fields of an answer. @see git-lfs, docs/api/batch.md. */
const BatchAnswer = z.object({
  objects: boundedList(
    z.object({
      oid: z.string(),
      actions: z.object({ download: Action.nullish(), upload: Action.nullish() }).nullish(),
      error: z.object({ code: z.number().nullish(), message: z.string().nullish() }).nullish(),
    }),
    1000,
  ),
});
export type LfsAnswer = z.infer<typeof BatchAnswer>["objects"][number];

/** A server of large files. */
export interface LfsServer {
  /** The address of its API, without a slash at the end. */
  readonly url: string;
  /** The header with credentials for an address; none for other hosts. */
  authorizationFor(url: string): Readonly<Record<string, string>>;
}

/**
 * The address of the server of a repository's large files, by default below the repository's.
 *
 * @see git-lfs, docs/api/server-discovery.md.
 */
export const lfsUrlOf = (address: string, given: string): string =>
  given === ""
    ? `${address}${address.endsWith(".git") ? "" : ".git"}/info/lfs`
    : given.replace(/\/+$/, "");

/**
 * Requests the transfers of files from a server. Cost: one request.
 *
 * @returns The answer for each file, or the status by which the server refuses the request.
 * @throws RemoteFailure for a failure that may pass, and for an invalid answer.
 */
export async function requestLfsBatch(
  { outgoing }: Pick<Ctx, "outgoing">,
  server: LfsServer,
  operation: "download" | "upload",
  pointers: readonly LfsPointer[],
): Promise<readonly LfsAnswer[] | number> {
  const url = `${server.url}/objects/batch`;
  const outcome = await outgoing.fetchGuarded(
    url,
    {
      method: "POST",
      headers: { Accept: MEDIA_TYPE, "Content-Type": MEDIA_TYPE, ...server.authorizationFor(url) },
      body: JSON.stringify({
        operation,
        transfers: ["basic"],
        objects: pointers.map(({ oid, sizeBytes }) => ({ oid, size: sizeBytes })),
      }),
    },
    LIMITS,
  );
  if (outcome.kind === "timeout") throw new RemoteFailure("timeout", "large files took too long");
  if (outcome.kind === "blocked") throw new RemoteFailure("blocked", outcome.reason);
  if (outcome.kind === "network") throw new RemoteFailure("unreachable", outcome.reason);
  if (outcome.kind === "too_large") throw new RemoteFailure("too_large", "too many large files");
  const { status, body } = outcome;
  const message = `large files were answered with ${status}`;
  const retryAt = retryTimeOf(outcome, Date.now());
  if (retryAt !== undefined) throw new RemoteFailure("rate_limited", message, retryAt);
  if (status >= 500 && status !== 501) throw new RemoteFailure("server", message);
  if (status !== 200) return status;
  try {
    return BatchAnswer.parse(await parseJson(new TextDecoder().decode(body))).objects;
  } catch {
    throw new RemoteFailure("protocol", "the answer about large files is not what Git LFS says");
  }
}
