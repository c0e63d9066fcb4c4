import type { RegistryRequest } from "../enter-registry.ts";
import { listListings, type Listing } from "./listings.ts";

/** Maximum number of results of one request. */
const TAKE_MAX = 100;
const TAKE_DEFAULT = 20;
const SKIP_MAX = 10_000;

/** A part of a list. */
export interface ResultRange {
  readonly skip: number;
  readonly take: number;
}

/**
 * Reads how many results a client skips and takes, within bounds. What is no number counts as not
 * given.
 */
export function readResultRange(skip: string | undefined, take: string | undefined): ResultRange {
  const number = (text: string | undefined, otherwise: number, max: number): number =>
    /^\d{1,9}$/.test(text ?? "") ? Math.min(Number(text), max) : otherwise;
  return { skip: number(skip, 0, SKIP_MAX), take: number(take, TAKE_DEFAULT, TAKE_MAX) };
}

/**
 * Lists the versions of the packages that match a search. @param id Of the only package that is
 * searched.
 */
export const searchListings = (
  { ctx, owner, sees }: RegistryRequest,
  text: string,
  id?: string,
): Promise<Listing[]> =>
  listListings(ctx, owner.account.id, { text, ...(id !== undefined && { id }) }, sees);
