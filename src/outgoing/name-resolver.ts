import { z } from "zod";

import { type IpAddress, parseIpAddress } from "../lib/ip-address.ts";
import { readBody } from "./read-body.ts";

/** What a resolver says of a name. */
export type Resolution =
  | { kind: "found"; addresses: IpAddress[] }
  /** There is no such name, or it has no address. */
  | { kind: "absent" }
  /** The resolver was not reached, or answered nothing that can be relied on. */
  | { kind: "failed" };

/** Finds all addresses of a name. */
export interface NameResolver {
  resolve(name: string, signal: AbortSignal): Promise<Resolution>;
}

/** Knows no name: what a service without a resolver asks. */
export const NO_RESOLVER: NameResolver = { resolve: () => Promise.resolve({ kind: "absent" }) };

const ANSWER_BYTES_MAX = 65_536;

/** Record types and response codes of DNS. */
const A = 1;
const AAAA = 28;
const NO_ERROR = 0;
const NO_SUCH_NAME = 3;

const DnsAnswer = z.object({
  Status: z.int(),
  Answer: z.array(z.object({ type: z.int(), data: z.string() })).optional(),
});

/**
 * Asks a resolver over HTTPS in the JSON form of DNS.
 *
 * A Worker cannot connect to an address of its own choice and still speak TLS to a name: the addresses
 * judged here are looked up once more by the platform when the request is sent.
 */
export class DnsOverHttps implements NameResolver {
  private readonly url: string;

  /** @param url As `https://cloudflare-dns.com/dns-query`. The operator chose it: nobody judges it. */
  constructor(url: string) {
    this.url = url;
  }

  /** One round: both families at once. If either is not known, neither is relied on. */
  async resolve(name: string, signal: AbortSignal): Promise<Resolution> {
    const families = await Promise.all(
      [A, AAAA].map((type) => this.ask(name, type, signal).catch(() => undefined)),
    );
    const addresses: IpAddress[] = [];
    for (const family of families) {
      if (!family) return { kind: "failed" };
      addresses.push(...family);
    }
    return addresses.length === 0 ? { kind: "absent" } : { kind: "found", addresses };
  }

  /** @throws Error if the resolver is not reached or answers anything else than JSON. */
  private async ask(
    name: string,
    type: number,
    signal: AbortSignal,
  ): Promise<IpAddress[] | undefined> {
    const url = new URL(this.url);
    url.searchParams.set("name", name);
    url.searchParams.set("type", String(type));
    // oxlint-disable-next-line no-restricted-globals -- this is the guarded client
    const response = await fetch(url, {
      headers: { Accept: "application/dns-json" },
      redirect: "manual",
      signal,
    });
    const { bytes, isCut } = await readBody(response, ANSWER_BYTES_MAX);
    return response.status === 200 && !isCut
      ? addressesOf(JSON.parse(new TextDecoder().decode(bytes)), type)
      : undefined;
  }
}

/** Aliases stand among the answers and are passed over: the resolver has followed them. */
function addressesOf(json: unknown, type: number): IpAddress[] | undefined {
  const { success, data } = DnsAnswer.safeParse(json);
  if (!success) return undefined;
  if (data.Status === NO_SUCH_NAME) return [];
  if (data.Status !== NO_ERROR) return undefined;
  const addresses: IpAddress[] = [];
  for (const record of data.Answer ?? []) {
    if (record.type !== type) continue;
    const address = parseIpAddress(record.data);
    if (!address) return undefined;
    addresses.push(address);
  }
  return addresses;
}
