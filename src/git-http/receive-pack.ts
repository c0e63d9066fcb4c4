import { findMaintainedBranches } from "../auth/access/maintained-branches.ts";
import { isAllowed } from "../auth/access/permission.ts";
import type { Config } from "../config.ts";
import type { Ctx } from "../context.ts";
import { packLimits } from "../domain/code/git/pack-limits.ts";
import { applyPushOptions, parsePushOptions } from "../domain/repos/repository/push-options.ts";
import { pushRefs, type RefPush } from "../domain/code/git/push-refs.ts";
import { isForPull, parsePullOptions } from "../domain/pulls/pushed/parse-target.ts";
import { type PushedPull, pushPulls } from "../domain/pulls/pushed/push-pulls.ts";
import type { RequestContext } from "../entrance/enter-repository.ts";
import { decodeText } from "../git/byte-text.ts";
import { asFailure, isOfFullStorage } from "../entrance/as-failure.ts";
import { GitError, overLimit } from "../git/error.ts";
import { FLUSH_PKT, joinBytes } from "../git/wire/pkt-line.ts";
import {
  formatReceiveReport,
  type ReceiveReport,
  type RefResult,
} from "../git/wire/receive-report.ts";
import {
  isDelete,
  parseReceiveRequest,
  type ReceiveRequest,
  type RefCommand,
} from "../git/wire/receive-request.ts";
import { BAND_DATA, formatFrames, formatProgress, KEEPALIVE_FRAME } from "../git/wire/side-band.ts";
import { Failure, malformed, tooLarge } from "../lib/failure.ts";
import { logBug } from "../lib/log.ts";
import { CallerLeft } from "../lib/step-budget.ts";
import { streamOf } from "../lib/stream-of.ts";
import type { PackReceiver } from "../storage/pack-receiver.ts";
import type { PullRefs } from "../storage/repository-records.ts";
import type { BegunUpload, StoredRepository } from "../storage/storage.ts";
import { gitAnswer, logSent } from "./answer.ts";
import { formatFindings, withPage } from "./finding-lines.ts";
import { namePulls, openHints, suggestPulls } from "./pull-hints.ts";
import { reportProgress } from "./push-progress.ts";
import { ProgressChannel } from "./progress-channel.ts";

const RESULT = "git-receive-pack-result";

/** Maximum bytes of the list of commands: about 100,000 commands of usual length. */
const COMMANDS_BYTES_MAX = 16 * 1024 * 1024;

/** Maximum bytes that are read and dropped after a push is refused. */
const DROPPED_BYTES_MAX = 128 * 1024 * 1024;

/** Interval of keepalive frames while there is no progress, in milliseconds. */
const KEEPALIVE_MS = 5000;

/**
 * Handles a push.
 *
 * The whole body is received before the response begins, since clients do not read earlier. A
 * failure of the pack is reported for each ref, since git displays the report.
 */
export async function receivePack(
  context: RequestContext,
  body: AsyncGenerator<Uint8Array>,
  requestId: string,
): Promise<Response> {
  const { ctx, repo } = context;
  const { request, rest } = await readCommands(body);
  // A client that only tests its credentials sends a lone flush packet.
  if (!request || request.commands.length === 0) return gitAnswer(RESULT, new Uint8Array(0));

  const stored = ctx.git.repository(repo.row);
  // SECURITY: nothing of a push is stored that could not be applied anyway.
  const chosen = await chooseRefs(context, request.commands);
  const isPackNeeded = request.hasPack && chosen.accepted.length > 0;
  const upload = isPackNeeded ? await beginUpload(stored, ctx, pullsOf(chosen)) : undefined;
  const failure = await receiveBody(request, upload?.receiver, rest, body, ctx.config);
  if (failure?.error instanceof CallerLeft) {
    if (upload) ctx.defer(stored.dropUpload(upload.uploadId, upload.receiver));
    throw failure.error;
  }
  const progress = new ProgressChannel();
  const report = request.capabilities.has("side-band-64k") ? progress.report : undefined;
  const work = completePush(
    { ...context, chosen },
    request,
    upload,
    failure,
    requestId,
    report,
  ).finally(() => {
    // Also to a client that wants no progress.
    progress.report(formatFindings(upload?.receiver.findings ?? [], ctx));
  });
  // The push is received completely, so it is applied even if the client disconnects.
  ctx.defer(work);
  // After a disconnect the work may still run, so the costs are logged when it ends.
  const onEnd = (sentBytes: number): void =>
    ctx.defer(work.then(() => logSent(requestId, ctx.git.usage, sentBytes)));
  return gitAnswer(RESULT, streamOf(streamReport(request, work, progress), onEnd));
}

/** The upload of a pack being received. */
interface Upload extends BegunUpload {
  readonly receiver: PackReceiver;
}

async function beginUpload(
  stored: StoredRepository,
  { config, now }: Ctx,
  pulls: PullRefs,
): Promise<Upload> {
  const begun = await stored.beginUpload(now, pulls);
  const limits = packLimits(config);
  const receiver = stored.receivePack(begun.uploadId, limits, config.findingSeverities);
  return { ...begun, receiver };
}

async function readCommands(
  body: AsyncGenerator<Uint8Array>,
): Promise<{ request: ReceiveRequest | undefined; rest: Uint8Array }> {
  let bytes = new Uint8Array(0);
  // Parsing is retried only when the input has doubled, so that the total cost stays linear.
  let triedBytes = 0;
  for (;;) {
    const { value, done } = await body.next();
    if (value) bytes = joinBytes([bytes, value]) as Uint8Array<ArrayBuffer>;
    if (!done && bytes.length < 2 * triedBytes) continue;
    const parsed = parseReceiveRequest(bytes);
    if (parsed) return { request: parsed.value, rest: bytes.subarray(parsed.next) };
    if (done && bytes.length > 0) throw malformed("the list of commands is cut off");
    if (done) return { request: undefined, rest: bytes };
    if (bytes.length > COMMANDS_BYTES_MAX) throw tooLarge("too many refs in one push");
    triedBytes = bytes.length;
  }
}

/** Writes the body to the receiver. @returns The error that refuses the push, if any. */
async function receiveBody(
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
      // No `for await`, which would close the body when the loop throws.
      piece = (await body.next()).value;
    }
    return undefined;
  } catch (error) {
    await drain(body);
    return { error };
  }
}

/**
 * Reads and drops the rest of the body: most clients read the response only after they have sent
 * everything.
 */
async function drain(body: AsyncGenerator<Uint8Array>): Promise<void> {
  let bytes = 0;
  try {
    for (let next = await body.next(); !next.done; next = await body.next()) {
      bytes += next.value.length;
      if (bytes > DROPPED_BYTES_MAX) break;
    }
  } catch (error) {
    // The client hung up, or its compressed body breaks off: the push is refused for the first
    // error.
    if (!(error instanceof Failure || error instanceof CallerLeft)) throw error;
  }
  await body.return(undefined);
}

/**
 * Verifies the pack and updates the refs.
 *
 * @param report Receives messages for the pusher; undefined if the client can't show any. A client
 * that asks for `quiet`, as one without a terminal does, gets no progress but all other messages.
 */
async function completePush(
  context: RequestContext & { readonly chosen: ChosenRefs },
  request: ReceiveRequest,
  upload: Upload | undefined,
  failure: { error: unknown } | undefined,
  requestId: string,
  report: ((text: string) => void) | undefined,
): Promise<ReceiveReport> {
  const { ctx, repo } = context;
  const stored = ctx.git.repository(repo.row);
  const reportMeter = request.capabilities.has("quiet") ? undefined : report;
  try {
    const { accepted, isForPulls, refused } = context.chosen;
    if (accepted.length === 0) return { unpackError: undefined, results: refused };
    const hints = report && !repo.isWiki ? openHints(context, accepted) : undefined;
    const verified = await verifyPack();
    const isAtomic = request.capabilities.has("atomic");
    const uploadId = upload?.uploadId;
    const commands = isAtomic && refused.length > 0 ? [] : accepted;
    const push = { commands, isAtomic, uploadId, ...verified };
    const pushed: readonly PushedPull[] = isForPulls
      ? await pushPulls(ctx, repo, push, parsePullOptions(request.pushOptions))
      : await pushRefs(ctx, repo, push);
    const results = inOrder(request, [...refused, ...pushed]);
    const count = results.length;
    reportMeter?.(`Processed ${count} ${count === 1 ? "reference" : "references"}\n`);
    report?.(isForPulls ? namePulls(context, pushed) : await suggestPulls(context, hints, pushed));
    if (!repo.isWiki && results.some(({ kind }) => kind === "ok")) {
      const options = parsePushOptions(request.pushOptions);
      const refusal = await applyPushOptions(ctx, repo, options).catch((error: unknown) => {
        // The refs are updated already, so the report must confirm them.
        logBug(requestId, error);
        return `internal error, request ${requestId}`;
      });
      if (refusal) report?.(`push options were not applied: ${refusal}\n`);
    }
    return { unpackError: undefined, results };
  } catch (thrown) {
    const error = isOfFullStorage(thrown) ? asFailure(thrown) : thrown;
    if (isShallowUpdate(request, error)) return refuseAll(request, "shallow update not allowed");
    const isRefusal = error instanceof GitError || error instanceof Failure;
    if (!isRefusal) logBug(requestId, error);
    const unpackError = isRefusal
      ? withPage(error.message, upload?.receiver.findings ?? [], ctx)
      : `internal error, request ${requestId}`;
    return { ...refuseAll(request, "unpacker error"), unpackError };
  }

  async function verifyPack(): Promise<Pick<RefPush, "repository" | "reachable" | "pack">> {
    try {
      if (failure) throw failure.error;
      const snapshot = upload?.snapshot ?? (await stored.snapshot(pullsOf(context.chosen)));
      const repository = await stored.openByBlock(snapshot);
      const listener = reportMeter && reportProgress(reportMeter);
      const received = await upload?.receiver.finish(repository, snapshot, listener);
      if (!received)
        return { repository, reachable: repository.reachableFrom(snapshot), pack: undefined };
      return {
        repository: received.repository,
        reachable: received.reachable,
        pack: received.record,
      };
    } catch (error) {
      // Only here, not after the commit: once committed, the repository may list the pack.
      if (upload) ctx.defer(stored.dropUpload(upload.uploadId, upload.receiver));
      throw error;
    }
  }
}

/** The commands of a push that its caller may make at all, and the refusals of the others. */
interface ChosenRefs {
  readonly accepted: readonly RefCommand[];
  /** Whether they open or update pull requests; if not, they update refs. */
  readonly isForPulls: boolean;
  readonly refused: readonly RefResult[];
}

/** The refs of pull requests that a push looks up by their names. */
const pullsOf = ({ isForPulls }: ChosenRefs): PullRefs => (isForPulls ? "all" : "none");

/**
 * SECURITY: the guard admits everyone who may read the code. This alone keeps readers from all
 * refs but those of their pull requests, and the branches of pull requests whose posters let them
 * edit these.
 *
 * Cost: one query for readers who push to other refs.
 */
async function chooseRefs(
  { ctx, repo }: RequestContext,
  commands: readonly RefCommand[],
): Promise<ChosenRefs> {
  // The guard of a wiki admits writers alone; the refs of its pull requests are none.
  if (repo.isWiki) return { accepted: commands, isForPulls: false, refused: [] };
  const mayWrite = isAllowed(repo, { unit: "code", mode: "write" });
  const isPlain = ({ ref }: RefCommand): boolean => !isForPull(ref);
  const maintained =
    mayWrite || !commands.some(isPlain)
      ? undefined
      : await findMaintainedBranches(ctx.db, ctx.actor, repo.row);
  const isMaintained = (command: RefCommand): boolean => {
    const name = decodeText(command.ref);
    const branch = name.startsWith(HEADS) ? name.slice(HEADS.length) : undefined;
    return branch !== undefined && !isDelete(command) && maintained?.has(branch) === true;
  };
  const mayUpdate = (command: RefCommand): boolean =>
    isPlain(command) && (mayWrite || isMaintained(command));
  const isForPulls = !commands.some(mayUpdate);
  const isAccepted = (command: RefCommand): boolean =>
    isForPulls ? !isPlain(command) : mayUpdate(command);
  const reasonOf = (command: RefCommand): string =>
    isPlain(command)
      ? "User permission denied for writing."
      : "push pull requests without other refs";
  return {
    accepted: commands.filter(isAccepted),
    isForPulls,
    refused: commands
      .filter((command) => !isAccepted(command))
      .map((command) => ({ kind: "refused", ref: command.ref, reason: reasonOf(command) })),
  };
}

const HEADS = "refs/heads/";

/** The results in the order of the commands; what has none was part of an atomic push. */
function inOrder({ commands }: ReceiveRequest, results: readonly RefResult[]): RefResult[] {
  const byRef = new Map(results.map((result) => [result.ref, result]));
  return commands.map(
    ({ ref }) => byRef.get(ref) ?? { kind: "refused", ref, reason: "atomic push failure" },
  );
}

/** Refuses each ref of a push for the same reason. */
function refuseAll({ commands }: ReceiveRequest, reason: string): ReceiveReport {
  const results = commands.map(({ ref }) => ({ kind: "refused" as const, ref, reason }));
  return { unpackError: undefined, results };
}

/**
 * Whether a push failed because its client is shallow: it sends everything that the advertised refs
 * don't reach, so what it lacks is beyond its boundary. Git's own server refuses it in the same
 * words.
 */
const isShallowUpdate = ({ shallowOids }: ReceiveRequest, error: unknown): boolean =>
  shallowOids.length > 0 && error instanceof GitError && error.code === "missing";

/** The response body: progress and keepalive frames while the work runs, then the report. */
async function* streamReport(
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
    const report = await Promise.race([work, progress.received(), pause(KEEPALIVE_MS)]);
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
