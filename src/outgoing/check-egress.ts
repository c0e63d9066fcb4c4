import {
  ANYWHERE,
  containsAddress,
  type HostList,
  matchesHost,
  blocksAddress,
} from "../lib/host-list.ts";
import { type IpAddress, kindOfAddress, parseIpAddress } from "../lib/ip-address.ts";
import type { NameResolver } from "./name-resolver.ts";
import { type Blocked, blocked, type Unreached, unreached } from "./outcome.ts";
import {
  isLocalhost,
  isOwnAddress,
  LOOPBACK,
  type OwnAddresses,
  ownAddressesOf,
} from "./own-addresses.ts";
import type { Target } from "./target.ts";

/** The configured rules for outgoing requests. */
export interface OutgoingRules {
  readonly allowed: HostList;
  readonly blocked: HostList;
  /** The service's own base URLs, to whose names and addresses requests are blocked. */
  readonly ownUrls: readonly string[];
}

/** Domains of local networks, for which the answer of a public resolver is not trusted. */
const LOCAL_NAMES =
  /(^|\.)(local|internal|intranet|lan|home|corp|private|home\.arpa|localdomain|onion|invalid|test|example)$/;

/**
 * Checks the destination of a request: the host name, and every address that it resolves to.
 *
 * SECURITY: a name is blocked if any of its addresses is. The platform resolves the name again when
 * the request is sent, so this check does not stop DNS rebinding. Cloudflare's network cannot reach
 * private addresses; a self-hosted machine may.
 *
 * @returns Undefined if the destination is allowed.
 */
export async function checkEgress(
  { url, host }: Target,
  rules: OutgoingRules,
  resolver: NameResolver,
  signal: AbortSignal,
): Promise<Blocked | Unreached | undefined> {
  const address = parseIpAddress(host);
  const isNamed = !address && matchesHost(rules.allowed, host);
  const own = ownAddressesBy(rules);
  if (own.names.has(host)) return blocked(OWN);
  if (matchesHost(rules.blocked, host)) return blocked(`BLOCKED_HOST_LIST names ${host}`);
  if (address) return checkAll([address], false);
  if (isLocalhost(host)) return checkAll(LOOPBACK, false);
  if (!isNamed && (!host.includes(".") || LOCAL_NAMES.test(host))) {
    return blocked(`${host} is a name of a local network, which ALLOWED_HOST_LIST does not name`);
  }

  const resolution = await resolver.resolve(host, signal);
  switch (resolution.kind) {
    case "found":
      return checkAll(resolution.addresses, isNamed);
    case "absent":
      // A listed name may exist only in the operator's own network, unknown to the resolver.
      return isNamed && !rules.blocked.isAny ? undefined : unreached(`${host} has no address`);
    case "failed":
      return unreached(`the addresses of ${host} could not be looked up`);
    default:
      return resolution satisfies never;
  }

  function checkAll(addresses: readonly IpAddress[], isListed: boolean): Blocked | undefined {
    const isOwn = addresses.some((each) => isOwnAddress(own, url, each));
    return isOwn ? blocked(OWN) : checkAddresses(addresses, host, isListed, rules);
  }
}

/** The service's own addresses by the rules that name them. Rules never change. */
const ownAddresses = new WeakMap<OutgoingRules, OwnAddresses>();

function ownAddressesBy(rules: OutgoingRules): OwnAddresses {
  let own = ownAddresses.get(rules);
  if (!own) ownAddresses.set(rules, (own = ownAddressesOf(rules.ownUrls)));
  return own;
}

const OWN = "this is the service's own address";

function checkAddresses(
  addresses: readonly IpAddress[],
  host: string,
  isNamed: boolean,
  rules: OutgoingRules,
): Blocked | undefined {
  for (const address of addresses) {
    const kind = kindOfAddress(address);
    if (blocksAddress(rules.blocked, address)) {
      return blocked(`BLOCKED_HOST_LIST holds the address of ${host}`);
    }
    if (!containsAddress(rules.allowed, address) && !(isNamed && ANYWHERE.has(kind))) {
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
