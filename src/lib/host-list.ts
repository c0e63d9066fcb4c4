import {
  type AddressKind,
  hiddenIpv4,
  type IpAddress,
  isInNetwork,
  kindOfAddress,
  type Network,
  parseNetwork,
} from "./ip-address.ts";

/** Hosts and addresses that an operator names. */
export interface HostList {
  /** `*`: any name and any address of `ANYWHERE`. */
  readonly isAny: boolean;
  readonly kinds: ReadonlySet<AddressKind>;
  readonly networks: readonly Network[];
  readonly patterns: readonly RegExp[];
}

/**
 * What a name may lead to that the list names itself, and what `*` stands for. This machine, link-local
 * addresses and the like are meant only by those who write `loopback` or the network.
 */
export const ANYWHERE: ReadonlySet<AddressKind> = new Set(["external", "private"]);

const KINDS = ["external", "private", "loopback"] as const;

/** Lower-case labels of ASCII in which `*` and `?` stand for other characters. */
const PATTERN = /^[a-z0-9_*?-]{1,63}(\.[a-z0-9_*?-]{1,63}){0,126}$/;

/** A pattern of digits and dots alone is an address misspelt. */
const DIGITS_ONLY = /^[\d.]+$/;

/**
 * Reads a list as Gitea writes it, separated by commas: `external`, `private`, `loopback` (or
 * `localhost`), `*`, networks, addresses, and names with `*` and `?`.
 *
 * @returns Undefined if any of it is none of these.
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

/** `*` stands for any characters, dots among them, `?` for one. */
function patternOf(glob: string): RegExp {
  const source = glob.replaceAll(".", "\\.").replaceAll(/\*+/g, ".*").replaceAll("?", ".");
  return new RegExp(`^${source}$`);
}

/** Whether the list names a host by a pattern other than `*`. */
export function namesHost(list: HostList, host: string): boolean {
  return list.patterns.some((pattern) => pattern.test(host));
}

/** Whether the list holds an address, or says `*` and the address is of `ANYWHERE`. */
export function holdsAddress(list: HostList, address: IpAddress): boolean {
  const kind = kindOfAddress(address);
  if (list.kinds.has(kind) || (list.isAny && ANYWHERE.has(kind))) return true;
  return list.networks.some((network) => isInNetwork(address, network));
}

/** The same for a list of what is refused: `*` is everything, and no address hides in another. */
export function refusesAddress(list: HostList, address: IpAddress): boolean {
  const hidden = hiddenIpv4(address);
  return list.isAny || holdsAddress(list, address) || (!!hidden && holdsAddress(list, hidden));
}
