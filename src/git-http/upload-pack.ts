import { pullRefsOf, withPullRefs, withPullRefsAt } from "../domain/code/git/pull-refs.ts";
import type { RequestContext } from "../entrance/enter-repository.ts";
import { GitError } from "../git/error.ts";
import type { ByteText } from "../git/byte-text.ts";
import type { Oid } from "../git/oid.ts";
import { formatErrorPkt } from "../git/wire/advertisement.ts";
import { type CommandRequest, parseCommandRequest } from "../git/wire/command-request.ts";
import {
  type FetchRequest,
  parseFetchArgs,
  parseUploadRequest,
  type UploadRequest,
} from "../git/wire/fetch-request.ts";
import {
  type AckMode,
  formatAcks,
  formatFetchResponse,
  formatShallowUpdate,
  type ShallowUpdate,
} from "../git/wire/fetch-response.ts";
import { formatLsRefsResponse, parseLsRefsArgs } from "../git/wire/ls-refs.ts";
import { formatObjectInfo, parseObjectInfoArgs } from "../git/wire/object-info.ts";
import { FLUSH_PKT, joinBytes } from "../git/wire/pkt-line.ts";
import {
  FRAME_PAYLOAD_MAX,
  formatBandError,
  formatProgress,
  frameMessage,
  SMALL_FRAME_PAYLOAD_MAX,
} from "../git/wire/side-band.ts";
import { findReachable } from "../git/walk/reachable.ts";
import { logBug } from "../lib/log.ts";
import { streamOf } from "../lib/stream-of.ts";
import type { Snapshot, StoredRef } from "../storage/repository-records.ts";
import type { StoredRepository } from "../storage/storage.ts";
import type { StorageUsage } from "../storage/storage-usage.ts";
import { viewRefs } from "./advertised-refs.ts";
import { gitAnswer, logSent } from "./answer.ts";
import { openRefs, type RefOwner } from "./open-refs.ts";
import { coversRequest, FetchSession } from "./fetch-session.ts";
import { formatKeptTotal } from "./kept-pack.ts";

const RESULT = "git-upload-pack-result";
const EMPTY = new Uint8Array(0);

/** The repository and the identity of one request. */
interface UploadPackContext {
  readonly repo: RefOwner;
  readonly stored: StoredRepository;
  /** The branch that HEAD names before the first push. */
  readonly defaultBranch: string;
  readonly requestId: string;
  readonly usage: StorageUsage;
}

/**
 * Handles one `git-upload-pack` request: a command in version 2, a negotiation round in older
 * versions.
 */
export async function uploadPack(
  { ctx, repo }: RequestContext,
  version: 0 | 1 | 2,
  body: Uint8Array,
  requestId: string,
): Promise<Response> {
  const stored = ctx.git.repository(repo.row);
  const { defaultBranch } = repo.row;
  const context = { repo, stored, defaultBranch, requestId, usage: ctx.git.usage };
  return withGitErrors(async () => {
    if (version !== 2) {
      const upload = parseUploadRequest(body, true)?.value;
      if (!upload || upload.wantOids.length === 0) return gitAnswer(RESULT, EMPTY);
      return serveRound(context, upload);
    }
    const command = parseCommandRequest(body)?.value;
    if (!command || command.command === "") return gitAnswer(RESULT, EMPTY);
    return runCommand(context, command);
  });
}

/**
 * Renders a GitError as an error packet in a git response: clients don't display the text of a 400
 * response.
 */
async function withGitErrors(
  answer: () => Promise<Response>,
  formatError = formatErrorPkt,
): Promise<Response> {
  try {
    return await answer();
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    return gitAnswer(RESULT, formatError(error.message));
  }
}

async function runCommand(
  context: UploadPackContext,
  { command, args }: CommandRequest,
): Promise<Response> {
  switch (command) {
    case "ls-refs":
      return listRefs(context, args);
    case "fetch": {
      const request = parseFetchArgs(args);
      const formatError = request.isSidebandAll ? formatBandError : formatErrorPkt;
      return withGitErrors(() => serveFetch(context, request), formatError);
    }
    case "object-info":
      return formatSizes(context, args);
    default:
      throw new GitError("protocol", `unknown command ${JSON.stringify(command)}`);
  }
}

async function listRefs(
  { repo, stored, defaultBranch }: UploadPackContext,
  args: readonly ByteText[],
): Promise<Response> {
  const request = parseLsRefsArgs(args);
  const { prefixes } = request;
  const pulls = prefixes.length === 0 ? "all" : pullRefsOf(prefixes);
  const snapshot = await openRefs(repo, stored, pulls);
  const { refs, head, unbornTarget } = viewRefs(snapshot, defaultBranch);
  const all = head ? [head, ...refs] : refs;
  return gitAnswer(RESULT, formatLsRefsResponse(request, all, unbornTarget));
}

async function formatSizes(
  { stored }: UploadPackContext,
  args: readonly ByteText[],
): Promise<Response> {
  const request = parseObjectInfoArgs(args);
  const snapshot = await stored.snapshot("none");
  const repository = await stored.openByBlock(snapshot);
  const { catalog, graph } = repository;
  if (catalog.isByBlock) {
    const reachable = repository.reachableFrom(snapshot);
    const sizes = new Map<Oid, number>();
    for (const oid of request.oids) {
      const found = (await reachable.find(oid)) && (await catalog.findSized(oid));
      if (found) sizes.set(oid, found.sizeBytes);
    }
    return gitAnswer(RESULT, formatObjectInfo(request, sizes));
  }
  const { refs, loadPullRefs } = snapshot;
  const found = request.oids.flatMap((oid) => {
    const location = catalog.find(oid);
    return location ? [{ oid, location }] : [];
  });
  const reachedFrom = (from: readonly StoredRef[]) => {
    const reachable = findReachable(
      catalog,
      graph,
      from.map(({ oid }) => oid),
    );
    return found.filter(({ location }) => reachable.has(location));
  };
  const reached = reachedFrom(refs);
  if (reached.length < found.length) reached.push(...reachedFrom(await loadPullRefs()));
  const sizes = new Map(reached.map(({ oid, location }) => [oid, catalog.sizeBytes(location)]));
  return gitAnswer(RESULT, formatObjectInfo(request, sizes));
}

/** Beyond so many wants and haves, all refs of pull requests are read at once. */
const VALUES_MAX = 1000;

async function openSession(
  context: UploadPackContext,
  request: FetchRequest,
): Promise<FetchSession> {
  const { stored, defaultBranch } = context;
  const snapshot = await stored.snapshot("none");
  const repository = await stored.openByBlock(snapshot);
  const isCovered = (by: Snapshot): boolean =>
    !snapshot.lacksPullRefs || coversRequest(by, repository, request);
  let state = snapshot;
  const values = [...request.wantOids, ...request.haveOids];
  if (values.length <= VALUES_MAX && !isCovered(state)) {
    state = await withPullRefsAt(snapshot, values);
  }
  if (!isCovered(state)) state = await withPullRefs(snapshot);
  return FetchSession.open(stored, viewRefs(state, defaultBranch), repository, request);
}

/** The `fetch` command of version 2. */
async function serveFetch(context: UploadPackContext, request: FetchRequest): Promise<Response> {
  const { wantOids, wantRefs, haveOids, isDone, waitsForDone } = request;
  const wantsNothing = wantOids.length === 0 && wantRefs.length === 0;
  if (wantsNothing && !waitsForDone) return gitAnswer(RESULT, EMPTY);
  const session = await openSession(context, request);
  // As in git, a request without haves needs no `done`.
  const negotiates = !isDone && haveOids.length > 0;
  const isReady = negotiates && !waitsForDone && (await session.isReady());
  const hasPack = !negotiates || isReady;
  const shallow = session.shallowUpdate() ?? boundaryOf(request);
  const message = formatFetchResponse({
    ...(negotiates && { acknowledgments: { commonOids: session.commonOids, isReady } }),
    ...(shallow && { shallow }),
    wantedRefs: session.wantedRefs,
    hasPack,
  });
  const front = request.isSidebandAll ? frameMessage(message) : message;
  if (!hasPack) return gitAnswer(RESULT, front);
  return answerWithPack(context, session, front, request.wantsProgress, FRAME_PAYLOAD_MAX);
}

/** In version 2 a client that names its boundary is answered that it stays as it is. */
function boundaryOf({ shallowOids }: FetchRequest): ShallowUpdate | undefined {
  return shallowOids.length > 0 ? { shallowOids: [], unshallowOids: [] } : undefined;
}

/** A negotiation round of version 0 or 1, with the wants and the haves sent so far. */
async function serveRound(context: UploadPackContext, request: UploadRequest): Promise<Response> {
  const { capabilities, isDone, hasRound } = request;
  const session = await openSession(context, request);
  const shallow = session.shallowUpdate();
  const front = shallow ? [formatShallowUpdate(shallow)] : [];
  // A client that deepens first requests only its new shallow boundary, without a round.
  const isAsking = isDone || hasRound || request.haveOids.length > 0;
  const isReady = isAsking && !isDone && (await session.isReady());
  const mode = ackMode(request);
  const endsReady = mode === "detailed" && capabilities.has("no-done");
  if (isAsking) front.push(formatAcks(mode, session.commonOids, isReady, isDone, endsReady));
  if (!isDone && !(isReady && endsReady)) return gitAnswer(RESULT, joinBytes(front));
  const isWide = capabilities.has("side-band-64k");
  const isBanded = isWide || capabilities.has("side-band");
  const payloadMax = isWide ? FRAME_PAYLOAD_MAX : SMALL_FRAME_PAYLOAD_MAX;
  return answerWithPack(
    context,
    session,
    joinBytes(front),
    request.wantsProgress,
    isBanded ? payloadMax : undefined,
  );
}

function ackMode({ capabilities }: UploadRequest): AckMode {
  if (capabilities.has("multi_ack_detailed")) return "detailed";
  return capabilities.has("multi_ack") ? "multi" : "single";
}

/**
 * @param payloadMax Maximum payload of a side-band frame in bytes; undefined for a pack without
 *   side-band.
 */
async function answerWithPack(
  context: UploadPackContext,
  session: FetchSession,
  front: Uint8Array,
  wantsProgress: boolean,
  payloadMax: number | undefined,
): Promise<Response> {
  const pack = await session.openPack(payloadMax);
  const { objectCount: size } = pack;
  const counted = `Enumerating objects: ${size}, done.\nCounting objects: 100% (${size}/${size}), done.\n`;
  const progress = (text: string): Uint8Array =>
    wantsProgress && payloadMax !== undefined ? formatProgress(text, payloadMax) : EMPTY;
  const before = joinBytes([front, progress(counted)]);
  const onEnd = (sentBytes: number): void => logSent(context.requestId, context.usage, sentBytes);
  if ("send" in pack) {
    const after = joinBytes([progress(formatKeptTotal(size)), FLUSH_PKT]);
    return gitAnswer(RESULT, pack.send(before, after, onEnd));
  }
  async function* pieces(sent: AsyncGenerator<Uint8Array, string>): AsyncGenerator<Uint8Array> {
    yield before;
    try {
      const summary = yield* sent;
      if (payloadMax === undefined) return;
      yield progress(summary);
      yield FLUSH_PKT;
    } catch (error) {
      logBug(context.requestId, error);
      if (payloadMax === undefined) throw error;
      yield formatBandError(`internal error, request ${context.requestId}`, payloadMax);
    }
  }
  return gitAnswer(RESULT, streamOf(pieces(pack.pieces), onEnd));
}
