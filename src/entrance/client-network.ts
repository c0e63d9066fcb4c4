import { type IpAddress, parseIpAddress, subscriberNetwork } from "../lib/ip-address.ts";

/**
 * The network that a request came from.
 *
 * @param name The header in which a trusted proxy states the address; "" for none. Of a list, the
 * last address counts: the proxy added it, and those before it are the client's word.
 * @returns Undefined if the header is missing or holds no address.
 */
export function readClientNetwork(headers: Headers, name: string): string | undefined {
  const address = findAddress(headers, name);
  return address && subscriberNetwork(address);
}

/** The address that a request came from. Parameters and result as for `readClientNetwork`. */
export const readClientAddress = (headers: Headers, name: string): string | undefined =>
  findAddress(headers, name)?.toString();

function findAddress(headers: Headers, name: string): IpAddress | undefined {
  if (name === "") return undefined;
  return parseIpAddress(headers.get(name)?.split(",").at(-1)?.trim() ?? "");
}
