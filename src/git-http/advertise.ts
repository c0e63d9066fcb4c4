import type { RequestContext } from "../entrance/enter-repository.ts";
import {
  type AdvertisedRef,
  formatAdvertisement,
  formatCapabilityAdvertisement,
  formatServiceHeader,
  requestedVersion,
  type ServiceName,
} from "../git/wire/advertisement.ts";
import { type Capabilities, parseCapabilities } from "../git/wire/capabilities.ts";
import { joinBytes } from "../git/wire/pkt-line.ts";
import { viewRefs } from "./advertised-refs.ts";
import { gitAnswer } from "./answer.ts";

const AGENT = "agent=edgeforge";

const UPLOAD_WORDS = [
  "multi_ack",
  "multi_ack_detailed",
  "thin-pack",
  "side-band",
  "side-band-64k",
  "ofs-delta",
  "shallow",
  "deepen-since",
  "deepen-not",
  "deepen-relative",
  "no-progress",
  "include-tag",
  "allow-tip-sha1-in-want",
  "allow-reachable-sha1-in-want",
  "filter",
  "object-format=sha1",
  AGENT,
];

const RECEIVE_WORDS = [
  "report-status",
  "report-status-v2",
  "delete-refs",
  "side-band-64k",
  "quiet",
  "atomic",
  "push-options",
  "ofs-delta",
  "object-format=sha1",
  AGENT,
];

const V2_WORDS = [
  AGENT,
  "ls-refs=unborn",
  "fetch=shallow wait-for-done filter ref-in-want sideband-all",
  "object-format=sha1",
  "object-info",
];

/** Answers `info/refs` of a repository that a push will make: it has no refs. */
export function advertiseNothing(protocol: string | undefined): Response {
  const version = requestedVersion(protocol) === 1 ? 1 : 0;
  const advertisement = formatAdvertisement([], parseCapabilities(RECEIVE_WORDS), version);
  const service = "git-receive-pack";
  return gitAnswer(
    `${service}-advertisement`,
    joinBytes([formatServiceHeader(service), advertisement]),
  );
}

/** Answers `info/refs`: what can be asked for here, and how. */
export async function advertise(
  { ctx, repo }: RequestContext,
  service: ServiceName,
  protocol: string | undefined,
): Promise<Response> {
  const contentType = `${service}-advertisement`;
  const version = requestedVersion(protocol);
  const isUpload = service === "git-upload-pack";
  if (isUpload && version === 2) {
    // Version 2 tells refs on request only, so there is nothing to look up.
    const capabilities = formatCapabilityAdvertisement(parseCapabilities(V2_WORDS));
    return gitAnswer(contentType, joinBytes([formatServiceHeader(service), capabilities]));
  }
  const snapshot = await ctx.git.repository(repo.row).snapshot();
  const { refs, head } = viewRefs(snapshot, repo.row.defaultBranch);
  const told: readonly AdvertisedRef[] = isUpload && head ? [head, ...refs] : refs;
  const words = isUpload
    ? [...UPLOAD_WORDS, ...(head ? [`symref=HEAD:${head.symrefTarget}`] : [])]
    : RECEIVE_WORDS;
  const capabilities: Capabilities = parseCapabilities(words);
  const advertisement = formatAdvertisement(
    isUpload ? told : told.map(({ name, oid }) => ({ name, oid })),
    capabilities,
    version === 1 ? 1 : 0,
  );
  return gitAnswer(contentType, joinBytes([formatServiceHeader(service), advertisement]));
}
