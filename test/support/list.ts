import { call, type Answer, type Sending } from "./call.ts";

type Call = (method: string, path: string, sending?: Sending) => Promise<Answer>;

/** Reads all pages of a list by following the `Link` headers. */
export async function readAll(
  path: string,
  sending: Sending = {},
  { limit = 50, through = call }: { limit?: number; through?: Call } = {},
) {
  const pages: { id: number }[][] = [];
  const totals = new Set<number>();
  let next: string | undefined = `${path}${path.includes("?") ? "&" : "?"}limit=${limit}`;
  while (next !== undefined) {
    const answer: Answer = await through("GET", next, sending);
    if (answer.status !== 200) throw new Error(`${next} answered ${answer.status}`);
    pages.push(Array.isArray(answer.body) ? answer.body : answer.body.data);
    totals.add(Number(answer.headers.get("X-Total-Count")));
    const link = /<[^>]*\/api\/v1([^>]*)>; rel="next"/.exec(answer.headers.get("Link") ?? "");
    next = link?.[1];
  }
  return { pages, ids: pages.flat().map(({ id }) => id), totals: [...totals] };
}

/** Ids sorted in ascending order, to compare lists that have another order or none. */
export const ascending = (ids: number[]): number[] => ids.toSorted((a, b) => a - b);
