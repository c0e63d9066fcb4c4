import {
  ANYWHERE,
  holdsAddress,
  type HostList,
  namesHost,
  refusesAddress,
} from "../lib/host-list.ts";
import { type IpAddress, kindOfAddress, parseIpAddress } from "../lib/ip-address.ts";
import type { NameResolver } from "./name-resolver.ts";
import { type Blocked, blocked, type Unreached, unreached } from "./outcome.ts";
import type { Target } from "./target.ts";

/** Where requests may go, as the operator set it. */
export interface OutgoingRules {
  readonly allowed: HostList;
  readonly blocked: HostList;
  /** The service's own address, which it never asks; "" if it isn't known. */
  readonly ownUrl: string;
}

/** Names that no public resolver may answer for. */
const LOCAL_NAMES =
  /(^|\.)(local|internal|intranet|lan|home|corp|private|home\.arpa|localdomain|onion|invalid|test|example)$/;

const LOOPBACK = ["127.0.0.1", "::1"].flatMap((text) => parseIpAddress(text) ?? []);

/**
 * Judges where a request would go: the name, and every address that it leads to.
 *
 * SECURITY: one forbidden address among many forbids the name. What a name leads to is looked up again by
 * the platform when the request is sent; a name whose answer changes in between is not held by this.
 * Cloudflare's network has no way to private addresses; a machine of one's own may have one.
 *
 * @returns Undefined if nothing is against it.
 */
export async function checkEgress(
  { url, host }: Target,
  rules: OutgoingRules,
  resolver: NameResolver,
  signal: AbortSignal,
): Promise<Blocked | Unreached | undefined> {
  const address = parseIpAddress(host);
  const isNamed = !address && namesHost(rules.allowed, host);
  if (isOwn(url, host, rules.ownUrl)) return blocked("this is the service's own address");
  if (namesHost(rules.blocked, host)) return blocked(`BLOCKED_HOST_LIST names ${host}`);
  if (address) return checkAddresses([address], host, false, rules);
  if (isLocalhost(host)) return checkAddresses(LOOPBACK, host, false, rules);
  if (!isNamed && (!host.includes(".") || LOCAL_NAMES.test(host))) {
    return blocked(`${host} is a name of a local network, which ALLOWED_HOST_LIST does not name`);
  }

  const resolution = await resolver.resolve(host, signal);
  switch (resolution.kind) {
    case "found":
      return checkAddresses(resolution.addresses, host, isNamed, rules);
    case "absent":
      // A name of the operator's own network is known there alone.
      return isNamed && !rules.blocked.isAny ? undefined : unreached(`${host} has no address`);
    case "failed":
      return unreached(`the addresses of ${host} could not be looked up`);
    default:
      return resolution satisfies never;
  }
}

function checkAddresses(
  addresses: readonly IpAddress[],
  host: string,
  isNamed: boolean,
  rules: OutgoingRules,
): Blocked | undefined {
  for (const address of addresses) {
    const kind = kindOfAddress(address);
    if (refusesAddress(rules.blocked, address)) {
      return blocked(`BLOCKED_HOST_LIST holds the address of ${host}`);
    }
    if (!holdsAddress(rules.allowed, address) && !(isNamed && ANYWHERE.has(kind))) {
      return blocked(
        `${host} leads to ${ARTICLES[kind]} address, which ALLOWED_HOST_LIST does not hold`,
      );
    }
  }
  return undefined;
}

const ARTICLES = {
  external: "an external",
  private: "a private",
  loopback: "a loopback",
  reserved: "a reserved",
} as const;

/** @see RFC 6761 section 6.3: no resolver is asked for these. */
const isLocalhost = (host: string): boolean => /(^|\.)localhost$/.test(host);

/**
 * Whether a request would come back to the service: by its name at any port, or at its port by any
 * address of the machine that it runs on.
 */
function isOwn(url: URL, host: string, ownUrl: string): boolean {
  const own = URL.parse(ownUrl);
  if (!own) return false;
  if (!isOwnMachine(own.hostname)) return host === own.hostname;
  return isOwnMachine(host) && portOf(url) === portOf(own);
}

function isOwnMachine(host: string): boolean {
  const address = parseIpAddress(host);
  return isLocalhost(host) || (!!address && kindOfAddress(address) === "loopback");
}

const portOf = (url: URL): string => url.port || (url.protocol === "https:" ? "443" : "80");
