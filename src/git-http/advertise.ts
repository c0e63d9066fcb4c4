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
import { openRefs } from "./open-refs.ts";

const AGENT = "agent=edgeforge";

const UPLOAD_CAPABILITIES = [
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
  "no-done",
  "include-tag",
  "allow-tip-sha1-in-want",
  "allow-reachable-sha1-in-want",
  "filter",
  "object-format=sha1",
  AGENT,
];

const RECEIVE_CAPABILITIES = [
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

const V2_CAPABILITIES = [
  AGENT,
  "ls-refs=unborn",
  "fetch=shallow wait-for-done filter ref-in-want sideband-all",
  "server-option",
  "object-format=sha1",
  "object-info",
];

/**
 * Responds to `info/refs` of a repository that the following push will create: an empty list of
 * refs.
 */
export function advertiseNothing(protocol: string | undefined): Response {
  const version = requestedVersion(protocol) === 1 ? 1 : 0;
  const advertisement = formatAdvertisement([], parseCapabilities(RECEIVE_CAPABILITIES), version);
  const service = "git-receive-pack";
  return gitAnswer(
    `${service}-advertisement`,
    joinBytes([formatServiceHeader(service), advertisement]),
  );
}

/** Responds to `info/refs` with the capabilities of the service and, before version 2, its refs. */
export async function advertise(
  { ctx, repo }: RequestContext,
  service: ServiceName,
  protocol: string | undefined,
): Promise<Response> {
  const contentType = `${service}-advertisement`;
  const version = requestedVersion(protocol);
  const isUpload = service === "git-upload-pack";
  if (isUpload && version === 2) {
    // Version 2 lists refs only on request (ls-refs), so nothing is looked up.
    const capabilities = formatCapabilityAdvertisement(parseCapabilities(V2_CAPABILITIES));
    return gitAnswer(contentType, joinBytes([formatServiceHeader(service), capabilities]));
  }
  // As with git's `receive.hideRefs`: a push can't update the refs of pull requests, and `--mirror`
  // would try to delete them.
  const stored = ctx.git.repository(repo.row);
  const snapshot = await openRefs(repo, stored, isUpload ? "all" : "none");
  const { refs, head } = viewRefs(snapshot, repo.row.defaultBranch);
  const advertised: readonly AdvertisedRef[] = isUpload && head ? [head, ...refs] : refs;
  const items = isUpload
    ? [...UPLOAD_CAPABILITIES, ...(head ? [`symref=HEAD:${head.symrefTarget}`] : [])]
    : RECEIVE_CAPABILITIES;
  const capabilities: Capabilities = parseCapabilities(items);
  const advertisement = formatAdvertisement(
    isUpload ? advertised : advertised.map(({ name, oid }) => ({ name, oid })),
    capabilities,
    version === 1 ? 1 : 0,
  );
  return gitAnswer(contentType, joinBytes([formatServiceHeader(service), advertisement]));
}
