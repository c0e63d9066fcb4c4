import {
  type AddressKind,
  embeddedIpv4,
  type IpAddress,
  isInNetwork,
  kindOfAddress,
  type Network,
  parseNetwork,
} from "./ip-address.ts";

/** A configured list of hosts and addresses. */
export interface HostList {
  /** The list contains `*`: any name, and any address of the kinds in `ANYWHERE`. */
  readonly isAny: boolean;
  readonly kinds: ReadonlySet<AddressKind>;
  readonly networks: readonly Network[];
  readonly patterns: readonly RegExp[];
}

/**
 * The kinds of addresses that `*` covers, and that a host listed by name may resolve to. Loopback,
 * link-local and other reserved addresses match only if the list has `loopback` or the network
 * itself.
 */
export const ANYWHERE: ReadonlySet<AddressKind> = new Set(["external", "private"]);

const KINDS = ["external", "private", "loopback"] as const;

/** Lower-case ASCII labels, in which `*` and `?` are wildcards. */
const PATTERN = /^[a-z0-9_*?-]{1,63}(\.[a-z0-9_*?-]{1,63}){0,126}$/;

/** A pattern of only digits and dots is a misspelt address. */
const DIGITS_ONLY = /^[\d.]+$/;

/**
 * Parses a comma-separated list in Gitea's syntax. Items are `external`, `private`, `loopback` (or
 * `localhost`), `*`, networks, addresses, and names with the wildcards `*` and `?`.
 *
 * @returns Undefined if any item is none of these.
 */
export function parseHostList(text: string): HostList | undefined {
  const kinds = new Set<AddressKind>();
  const networks: Network[] = [];
  const patterns: RegExp[] = [];
  let isAny = false;
  for (const item of text.split(",").map((part) => part.trim().toLowerCase())) {
    const kind = item === "localhost" ? "loopback" : KINDS.find((word) => word === item);
    const network = parseNetwork(item);
    if (item === "") continue;
    else if (item === "*") isAny = true;
    else if (kind) kinds.add(kind);
    else if (network) networks.push(network);
    else if (PATTERN.test(item) && !DIGITS_ONLY.test(item)) patterns.push(patternOf(item));
    else return undefined;
  }
  return { isAny, kinds, networks, patterns };
}

/** `*` matches any characters, including dots; `?` matches one character. */
function patternOf(glob: string): RegExp {
  const source = glob.replaceAll(".", "\\.").replaceAll(/\*+/g, ".*").replaceAll("?", ".");
  return new RegExp(`^${source}$`);
}

/** Whether a pattern of the list other than `*` matches `host`. */
export function matchesHost(list: HostList, host: string): boolean {
  return list.patterns.some((pattern) => pattern.test(host));
}

/**
 * Whether the list contains the address, or contains `*` and the address is of a kind in
 * `ANYWHERE`.
 */
export function containsAddress(list: HostList, address: IpAddress): boolean {
  const kind = kindOfAddress(address);
  if (list.kinds.has(kind) || (list.isAny && ANYWHERE.has(kind))) return true;
  return list.networks.some((network) => isInNetwork(address, network));
}

/**
 * Whether a list of blocked hosts contains the address. `*` blocks every address, and an IPv4
 * address is also blocked when it is embedded in an IPv6 address.
 */
export function blocksAddress(list: HostList, address: IpAddress): boolean {
  const embedded = embeddedIpv4(address);
  return (
    list.isAny || containsAddress(list, address) || (!!embedded && containsAddress(list, embedded))
  );
}
