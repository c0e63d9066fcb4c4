import type { Config } from "../config.ts";
import type { Ctx } from "../context.ts";
import { applyPushOptions, parsePushOptions } from "../domain/repos/push-options.ts";
import { pushRefs, type RefPush } from "../domain/git/push-refs.ts";
import type { RequestContext } from "../entrance/enter-repository.ts";
import { GitError, overLimit } from "../git/error.ts";
import { DEFAULT_PACK_LIMITS } from "../git/pack/limits.ts";
import { FLUSH_PKT, joinBytes } from "../git/wire/pkt-line.ts";
import { formatReceiveReport, type ReceiveReport } from "../git/wire/receive-report.ts";
import { parseReceiveRequest, type ReceiveRequest } from "../git/wire/receive-request.ts";
import { BAND_DATA, formatFrames, formatProgress, KEEPALIVE_FRAME } from "../git/wire/side-band.ts";
import { malformed, tooLarge } from "../lib/failure.ts";
import { logBug } from "../lib/log.ts";
import { streamOf } from "../lib/stream-of.ts";
import type { PackReceiver } from "../storage/pack-receiver.ts";
import type { BegunUpload, StoredRepository } from "../storage/storage.ts";
import { gitAnswer, logSent } from "./answer.ts";
import { suggestPulls, reportProgress } from "./push-progress.ts";
import { ProgressChannel } from "./progress-channel.ts";

const RESULT = "git-receive-pack-result";

/** Bytes of the list of commands at most: 100,000 of usual length. */
const COMMANDS_BYTES_MAX = 16 * 1024 * 1024;

/** Bytes that are still read of a push that is refused already. */
const DROPPED_BYTES_MAX = 128 * 1024 * 1024;

/** How long a client waits without a word, in milliseconds. */
const KEEPALIVE_MS = 5000;

/**
 * Answers a push.
 *
 * The body is taken whole before the answer begins: clients listen only then. Whatever is wrong
 * with the pack is told in the report, ref by ref, since that is what git shows.
 */
export async function receivePack(
  context: RequestContext,
  body: AsyncGenerator<Uint8Array>,
  requestId: string,
): Promise<Response> {
  const { ctx, repo } = context;
  const { request, rest } = await readCommands(body);
  // A client that wants to know whether its password is right sends nothing but a flush.
  if (!request || request.commands.length === 0) return gitAnswer(RESULT, new Uint8Array(0));

  const stored = ctx.git.repository(repo.row);
  const upload = request.hasPack ? await beginUpload(stored, ctx) : undefined;
  const failure = await take(request, upload?.receiver, rest, body, ctx.config);
  const progress = new ProgressChannel();
  const isTalking = request.capabilities.has("side-band-64k") && !request.capabilities.has("quiet");
  const report = isTalking ? progress.report : undefined;
  const work = settle(context, request, upload, failure, requestId, report);
  // Goes on if the client does not wait: what it sent is whole.
  ctx.defer(work);
  // Where the client left, the work may go on.
  const onEnd = (sentBytes: number): void =>
    ctx.defer(work.then(() => logSent(requestId, ctx.git.usage, sentBytes)));
  return gitAnswer(RESULT, streamOf(answer(request, work, progress), onEnd));
}

/** A pack on its way. */
interface Upload extends BegunUpload {
  readonly receiver: PackReceiver;
}

async function beginUpload(stored: StoredRepository, { config, now }: Ctx): Promise<Upload> {
  const begun = await stored.beginUpload(now);
  const limits = { ...DEFAULT_PACK_LIMITS, objectBytesMax: config.gitObjectMaxBytes };
  return { ...begun, receiver: stored.receivePack(begun.uploadId, limits) };
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

/** Gives the body to the receiver. Returns what is wrong with it, if anything is. */
async function take(
  { commands }: ReceiveRequest,
  receiver: PackReceiver | undefined,
  rest: Uint8Array,
  body: AsyncGenerator<Uint8Array>,
  { pushMaxBytes, pushMaxRefs }: Config,
): Promise<{ error: unknown } | undefined> {
  try {
    if (commands.length > pushMaxRefs) {
      throw overLimit(`a push may name ${pushMaxRefs} refs at most`);
    }
    let bytes = 0;
    let piece: Uint8Array | void = rest;
    while (piece) {
      bytes += piece.length;
      if (bytes > pushMaxBytes) throw overLimit(`a push may have ${pushMaxBytes} bytes at most`);
      await receiver?.write(piece);
      // Not by `for await`, which would close the body when it is left.
      piece = (await body.next()).value;
    }
    return undefined;
  } catch (error) {
    if (error instanceof GitError) await drop(body);
    return { error };
  }
}

/** Reads what nobody wants: most clients listen only when they have sent all. */
async function drop(body: AsyncGenerator<Uint8Array>): Promise<void> {
  let bytes = 0;
  for (let next = await body.next(); !next.done; next = await body.next()) {
    bytes += next.value.length;
    if (bytes > DROPPED_BYTES_MAX) break;
  }
  await body.return(undefined);
}

/** Checks what was pushed and moves the refs. @param say Undefined where nobody wants to hear. */
async function settle(
  context: RequestContext,
  request: ReceiveRequest,
  upload: Upload | undefined,
  failure: { error: unknown } | undefined,
  requestId: string,
  report: ((text: string) => void) | undefined,
): Promise<ReceiveReport> {
  const { ctx, repo } = context;
  const stored = ctx.git.repository(repo.row);
  try {
    const { repository, pack } = await check();
    const isAtomic = request.capabilities.has("atomic");
    const uploadId = upload?.uploadId;
    const push = { commands: request.commands, isAtomic, repository, uploadId, pack };
    const results = await pushRefs(ctx, repo, push);
    const count = results.length;
    report?.(`Processed ${count} ${count === 1 ? "reference" : "references"}\n`);
    report?.(suggestPulls(context, request.commands, results));
    if (results.some(({ kind }) => kind === "ok")) {
      const options = parsePushOptions(request.pushOptions);
      const refusal = await applyPushOptions(ctx, repo, options).catch((error: unknown) => {
        // The refs have moved, and the report must say so.
        logBug(requestId, error);
        return `internal error, request ${requestId}`;
      });
      if (refusal) report?.(`push options were not applied: ${refusal}\n`);
    }
    return { unpackError: undefined, results };
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
      const received = await upload?.receiver.finish(repository, report && reportProgress(report));
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
  progress: ProgressChannel,
): AsyncGenerator<Uint8Array> {
  const { capabilities } = request;
  const isV2 = capabilities.has("report-status-v2");
  const wantsReport = isV2 || capabilities.has("report-status");
  if (!capabilities.has("side-band-64k")) {
    const report = await work;
    if (wantsReport) yield formatReceiveReport(report, isV2);
    return;
  }
  for (;;) {
    const report = await Promise.race([work, progress.heard(), pause(KEEPALIVE_MS)]);
    const text = progress.take();
    if (text !== "") yield formatProgress(text);
    else if (report === undefined) yield KEEPALIVE_FRAME;
    if (report === undefined) continue;
    if (wantsReport) yield formatFrames(BAND_DATA, formatReceiveReport(report, isV2));
    yield FLUSH_PKT;
    return;
  }
}

const pause = (milliseconds: number): Promise<undefined> =>
  new Promise((resolve) => setTimeout(() => resolve(undefined), milliseconds));
