import ipaddr from "ipaddr.js";

export type IpAddress = ipaddr.IPv4 | ipaddr.IPv6;

/** An address and a prefix length in bits, such as `10.0.0.0/8`. */
export type Network = [IpAddress, number];

/**
 * The kind of network that an address belongs to:
 *
 * - `external`: the public internet
 * - `private`: a private network (RFC 1918, RFC 4193, RFC 6598)
 * - `loopback`: this machine
 * - `reserved`: anything else, such as link-local addresses, cloud metadata services, multicast,
 *   and IPv6 addresses with an embedded IPv4 address
 */
export type AddressKind = "external" | "private" | "loopback" | "reserved";

/** Cloud metadata services, which may return credentials, at addresses that are not link-local. */
const CLOUD_SERVICES: ReadonlySet<string> = new Set([
  "100.100.100.200",
  "168.63.129.16",
  "fd00:ec2::254",
  "fd20:ce::254",
]);

const FOUR_DECIMALS = /^(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){3}$/;

const GLOBAL_UNICAST = ipaddr.parseCIDR("2000::/3");

/**
 * Parses an address in the form of a parsed URL's host: IPv4 as four decimal numbers, IPv6 with or
 * without brackets and without a zone. An IPv4-mapped IPv6 address is returned as its IPv4 address.
 *
 * @returns Undefined for anything else, such as a host name.
 */
export function parseIpAddress(text: string): IpAddress | undefined {
  // For anything but IPv4, ipaddr.js finds out by an exception, which is slow.
  if (FOUR_DECIMALS.test(text)) {
    return ipaddr.IPv4.isValid(text) ? ipaddr.IPv4.parse(text) : undefined;
  }
  const bare = /^\[(.*)\]$/.exec(text)?.[1] ?? text;
  if (!/^[0-9a-f:.]+$/i.test(bare)) return undefined;
  // The platform normalizes the address first, because ipaddr.js parses the IPv4-compatible
  // `::10.0.0.1` as a mapped address.
  const plain = URL.parse(`http://[${bare}]/`)?.hostname.slice(1, -1);
  if (plain === undefined || !ipaddr.IPv6.isValid(plain)) return undefined;
  const address = ipaddr.IPv6.parse(plain);
  return address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

/** Parses `address/prefix`. An address without a prefix is a network of one address. */
export function parseNetwork(text: string): Network | undefined {
  const [address = "", prefix, ...rest] = text.split("/");
  const first = parseIpAddress(address);
  if (!first || address.startsWith("[") || rest.length > 0) return undefined;
  const prefixMax = first.kind() === "ipv4" ? 32 : 128;
  if (prefix === undefined) return [first, prefixMax];
  if (!/^(0|[1-9]\d{0,2})$/.test(prefix) || Number(prefix) > prefixMax) return undefined;
  return [first, Number(prefix)];
}

export function isInNetwork(address: IpAddress, [first, prefix]: Network): boolean {
  return address.kind() === first.kind() && address.match(first, prefix);
}

/**
 * Groups of an IPv6 address that name a subscriber's network; its other 64 bits are the
 * subscriber's to choose.
 */
const SUBSCRIBER_GROUPS = 4;

/**
 * The smallest network that belongs to one subscriber: an IPv4 address, or the first 64 bits of an
 * IPv6 address.
 */
export function subscriberNetwork(address: IpAddress): string {
  if (!(address instanceof ipaddr.IPv6)) return address.toString();
  const groups = address.parts.slice(0, SUBSCRIBER_GROUPS).map((group) => group.toString(16));
  return `${groups.join(":")}::/64`;
}

export function kindOfAddress(address: IpAddress): AddressKind {
  if (CLOUD_SERVICES.has(address.toString())) return "reserved";
  switch (address.range()) {
    case "unicast":
      return isOrdinary(address) ? "external" : "reserved";
    case "private":
    case "carrierGradeNat":
    case "uniqueLocal":
      return "private";
    case "loopback":
      return "loopback";
    default:
      return "reserved";
  }
}

/**
 * IPv6 global unicast is `2000::/3`. Addresses in it may still embed an IPv4 address in the
 * interface identifier.
 */
function isOrdinary(address: IpAddress): boolean {
  if (address.kind() === "ipv4") return true;
  return isInNetwork(address, GLOBAL_UNICAST) && !embeddedIpv4(address);
}

/**
 * The IPv4 address embedded in an IPv6 address, to which a gateway or the system may connect.
 * Covers mapped, compatible, translated, NAT64, 6to4, Teredo and ISATAP addresses.
 *
 * @see RFC 4291 section 2.5.5, RFC 2765, RFC 6052, RFC 8215, RFC 3056, RFC 4380, RFC 5214.
 */
export function embeddedIpv4(address: IpAddress): IpAddress | undefined {
  if (!(address instanceof ipaddr.IPv6)) return undefined;
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = address.parts;
  const isZeroTo64 = a === 0 && b === 0 && c === 0 && d === 0;
  if (isZeroTo64 && e === 0 && (f === 0xffff || (f === 0 && g !== 0))) return ipv4Of(g, h);
  if (isZeroTo64 && e === 0xffff && f === 0) return ipv4Of(g, h);
  if (a === 0x64 && b === 0xff9b) return ipv4Of(g, h);
  if (a === 0x2002) return ipv4Of(b, c);
  if (a === 0x2001 && b === 0) return ipv4Of(g ^ 0xffff, h ^ 0xffff);
  if ((e & 0xfdff) === 0 && f === 0x5efe) return ipv4Of(g, h);
  return undefined;
}

function ipv4Of(high: number, low: number): IpAddress {
  return new ipaddr.IPv4([high >> 8, high & 0xff, low >> 8, low & 0xff]);
}
