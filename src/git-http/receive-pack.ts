import { pushRefs, type RefPush } from "../domain/git/push-refs.ts";
import { GitError, overLimit } from "../git/error.ts";
import { DEFAULT_PACK_LIMITS } from "../git/pack/limits.ts";
import { FLUSH_PKT, joinBytes } from "../git/wire/pkt-line.ts";
import { formatReceiveReport, type ReceiveReport } from "../git/wire/receive-report.ts";
import { parseReceiveRequest, type ReceiveRequest } from "../git/wire/receive-request.ts";
import { BAND_DATA, formatFrames, formatProgress, KEEPALIVE_FRAME } from "../git/wire/side-band.ts";
import { malformed, tooLarge } from "../lib/failure.ts";
import { logBug } from "../lib/log.ts";
import type { PackReceiver } from "../storage/pack-receiver.ts";
import type { BegunUpload, StoredRepository } from "../storage/storage.ts";
import { gitAnswer, streamOf } from "./answer.ts";
import type { Visit } from "./env.ts";

const RESULT = "git-receive-pack-result";

/** Bytes of the list of commands at most: 100,000 of usual length. */
const COMMANDS_BYTES_MAX = 16 * 1024 * 1024;

/** How long a client waits without a word, in milliseconds. */
const KEEPALIVE_MS = 5000;

/**
 * Answers a push.
 *
 * The body is taken whole before the answer begins: clients listen only then. Whatever is wrong
 * with the pack is told in the report, ref by ref, since that is what git shows.
 */
export async function receivePack(
  visit: Visit,
  body: AsyncGenerator<Uint8Array>,
  requestId: string,
): Promise<Response> {
  const { ctx, entry } = visit;
  const { request, rest } = await readCommands(body);
  // A client that wants to know whether its password is right sends nothing but a flush.
  if (!request || request.commands.length === 0) return gitAnswer(RESULT, new Uint8Array(0));

  const stored = ctx.git.repository(entry.repo);
  const upload = request.hasPack ? await beginUpload(stored, ctx.now) : undefined;
  const isTaken = upload && take(upload.receiver, rest, body, ctx.config.pushMaxBytes);
  const failure = await isTaken?.then(
    () => undefined,
    (error: unknown) => ({ error }),
  );
  const work = settle(visit, request, upload, failure, requestId);
  // Goes on if the client does not wait: what it sent is whole.
  ctx.defer(work);
  return gitAnswer(RESULT, streamOf(answer(request, work)));
}

/** A pack on its way. */
interface Upload extends BegunUpload {
  readonly receiver: PackReceiver;
}

async function beginUpload(stored: StoredRepository, at: number): Promise<Upload> {
  const begun = await stored.beginUpload(at);
  return { ...begun, receiver: stored.receivePack(begun.uploadId, DEFAULT_PACK_LIMITS) };
}

async function readCommands(
  body: AsyncGenerator<Uint8Array>,
): Promise<{ request: ReceiveRequest | undefined; rest: Uint8Array }> {
  let bytes = new Uint8Array(0);
  // Tried again when it has doubled: a long list is not parsed once for each of its pieces.
  let triedBytes = 0;
  for (;;) {
    const { value, done } = await body.next();
    if (value) bytes = joinBytes([bytes, value]) as Uint8Array<ArrayBuffer>;
    if (!done && bytes.length < 2 * triedBytes) continue;
    const read = parseReceiveRequest(bytes);
    if (read) return { request: read.value, rest: bytes.subarray(read.next) };
    if (done && bytes.length > 0) throw malformed("the list of commands is cut off");
    if (done) return { request: undefined, rest: bytes };
    if (bytes.length > COMMANDS_BYTES_MAX) throw tooLarge("too many refs in one push");
    triedBytes = bytes.length;
  }
}

/** Gives the body to the receiver. What is refused is read to its end all the same, and dropped. */
async function take(
  receiver: PackReceiver,
  rest: Uint8Array,
  body: AsyncGenerator<Uint8Array>,
  bytesMax: number,
): Promise<void> {
  let bytes = rest.length;
  try {
    await receiver.write(rest);
    for await (const piece of body) {
      bytes += piece.length;
      if (bytes > bytesMax) throw overLimit(`a push may have ${bytesMax} bytes at most`);
      await receiver.write(piece);
    }
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    for await (const _ of body) continue;
    throw error;
  }
}

/** Checks what was pushed and moves the refs. */
async function settle(
  visit: Visit,
  request: ReceiveRequest,
  upload: Upload | undefined,
  failure: { error: unknown } | undefined,
  requestId: string,
): Promise<ReceiveReport> {
  const { ctx, entry } = visit;
  const stored = ctx.git.repository(entry.repo);
  try {
    const { repository, pack } = await check();
    const isAtomic = request.capabilities.has("atomic");
    const uploadId = upload?.uploadId;
    const push = { commands: request.commands, isAtomic, repository, uploadId, pack };
    return { unpackError: undefined, results: await pushRefs(ctx, entry, push) };
  } catch (error) {
    if (!(error instanceof GitError)) logBug(requestId, error);
    const unpackError =
      error instanceof GitError ? error.message : `internal error, request ${requestId}`;
    const reason = "unpacker error";
    const results = request.commands.map(({ ref }) => ({ kind: "refused" as const, ref, reason }));
    return { unpackError, results };
  }

  async function check(): Promise<Pick<RefPush, "repository" | "pack">> {
    try {
      if (failure) throw failure.error;
      const repository = await stored.open(upload?.snapshot ?? (await stored.snapshot()));
      const received = await upload?.receiver.finish(repository);
      return { repository: received?.repository ?? repository, pack: received?.record };
    } catch (error) {
      // Here and not behind the commit: what a repository may list already must stay.
      if (upload) ctx.defer(stored.dropUpload(upload.uploadId, upload.receiver));
      throw error;
    }
  }
}

async function* answer(
  request: ReceiveRequest,
  work: Promise<ReceiveReport>,
): AsyncGenerator<Uint8Array> {
  const { capabilities, commands } = request;
  const isV2 = capabilities.has("report-status-v2");
  const wantsReport = isV2 || capabilities.has("report-status");
  if (!capabilities.has("side-band-64k")) {
    const report = await work;
    if (wantsReport) yield formatReceiveReport(report, isV2);
    return;
  }
  for (;;) {
    const report = await Promise.race([work, pause(KEEPALIVE_MS)]);
    if (report === undefined) {
      yield KEEPALIVE_FRAME;
      continue;
    }
    const isQuiet = capabilities.has("quiet");
    if (!isQuiet && report.unpackError === undefined) {
      const count = commands.length;
      yield formatProgress(`Processed ${count} ${count === 1 ? "reference" : "references"}\n`);
    }
    if (wantsReport) yield formatFrames(BAND_DATA, formatReceiveReport(report, isV2));
    yield FLUSH_PKT;
    return;
  }
}

const pause = (milliseconds: number): Promise<undefined> =>
  new Promise((resolve) => setTimeout(() => resolve(undefined), milliseconds));
