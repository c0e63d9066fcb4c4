import ipaddr from "ipaddr.js";

export type IpAddress = ipaddr.IPv4 | ipaddr.IPv6;

/** All addresses from one with a prefix, as `10.0.0.0/8`. */
export type Network = [IpAddress, number];

/**
 * Where an address leads:
 *
 * - `external`: a host of the public internet
 * - `private`: a network of somebody's own (RFC 1918, RFC 4193, RFC 6598)
 * - `loopback`: this machine
 * - `reserved`: anything else, above all link-local addresses, the clouds' own services, multicast,
 *   and IPv6 addresses that hide an IPv4 one
 */
export type AddressKind = "external" | "private" | "loopback" | "reserved";

/** What clouds answer their own machines' questions at, credentials among them, outside of link-local. */
const CLOUD_SERVICES: ReadonlySet<string> = new Set([
  "100.100.100.200",
  "168.63.129.16",
  "fd00:ec2::254",
  "fd20:ce::254",
]);

const GLOBAL_UNICAST = ipaddr.parseCIDR("2000::/3");

/**
 * Reads an address as a URL's host gives it, once parsed: IPv4 as four decimal numbers, IPv6 with or
 * without brackets and without a zone. A mapped address is the IPv4 address that it maps.
 *
 * @returns Undefined for whatever else, a name above all.
 */
export function parseIpAddress(text: string): IpAddress | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  const bare = /^\[(.*)\]$/.exec(text)?.[1] ?? text;
  if (!/^[0-9a-f:.]+$/i.test(bare)) return undefined;
  // The platform's parser decides: ipaddr.js takes the compatible `::10.0.0.1` for a mapped address.
  const plain = URL.parse(`http://[${bare}]/`)?.hostname.slice(1, -1);
  if (plain === undefined || !ipaddr.IPv6.isValid(plain)) return undefined;
  const address = ipaddr.IPv6.parse(plain);
  return address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

/** Reads `address/prefix`, or an address alone, which is a network of one. */
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

/** Of IPv6 only an eighth is given out; in it, interfaces may still be named after an IPv4 address. */
function isOrdinary(address: IpAddress): boolean {
  if (address.kind() === "ipv4") return true;
  return isInNetwork(address, GLOBAL_UNICAST) && !hiddenIpv4(address);
}

/**
 * The IPv4 address that an IPv6 address carries and that a gateway or the system may connect to: mapped,
 * compatible, translated, NAT64, 6to4, Teredo, ISATAP.
 *
 * @see RFC 4291 section 2.5.5, RFC 2765, RFC 6052, RFC 8215, RFC 3056, RFC 4380, RFC 5214.
 */
export function hiddenIpv4(address: IpAddress): IpAddress | undefined {
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
