import { embeddedIpv4, type IpAddress, kindOfAddress, parseIpAddress } from "../lib/ip-address.ts";

/** Where the service itself is reached. */
export interface OwnAddresses {
  /**
   * Host names in lower case, each at any port: a proxy may serve others than the one in the URL.
   */
  readonly names: ReadonlySet<string>;
  /** Addresses with a port, in the form of `endpointOf`. */
  readonly endpoints: ReadonlySet<string>;
}

/** Collects the names and addresses of base URLs. Empty URLs are skipped. */
export function ownAddressesOf(baseUrls: readonly string[]): OwnAddresses {
  const names = new Set<string>();
  const endpoints = new Set<string>();
  for (const text of baseUrls) {
    const url = URL.parse(text);
    if (!url) continue;
    const host = url.hostname.toLowerCase().replace(/\.$/, "");
    const address = isLocalhost(host) ? LOOPBACK[0] : parseIpAddress(host);
    if (address) endpoints.add(endpointOf(address, url));
    else names.add(host);
  }
  return { names, endpoints };
}

/** Whether `url` leads to one of the service's own addresses when it is sent to `address`. */
export function isOwnAddress(own: OwnAddresses, url: URL, address: IpAddress): boolean {
  const embedded = embeddedIpv4(address);
  return [address, ...(embedded ? [embedded] : [])].some((each) =>
    own.endpoints.has(endpointOf(each, url)),
  );
}

/** Names that lead to this machine and are not sent to a resolver. @see RFC 6761 section 6.3. */
export const isLocalhost = (host: string): boolean => /(^|\.)localhost$/.test(host);

/** The addresses of {@link isLocalhost}. */
export const LOOPBACK: readonly IpAddress[] = ["127.0.0.1", "::1"].flatMap(
  (text) => parseIpAddress(text) ?? [],
);

/**
 * An address and a port. All loopback addresses are one, and so are the unspecified ones, to which
 * systems connect as to loopback. So are the default ports of http and https, since a proxy serves
 * both.
 */
function endpointOf(address: IpAddress, { port }: URL): string {
  const isThisMachine = kindOfAddress(address) === "loopback" || address.range() === "unspecified";
  return `${isThisMachine ? "loopback" : address.toString()} ${port || "default"}`;
}
