import { Failure } from "../lib/failure.ts";

/** A redirect rather than a refusal: the requested resource has a new URL. */
export class Moved extends Failure {
  readonly location: string;
  readonly status: 301 | 307 | 308;

  constructor(location: string, status: 301 | 307 | 308) {
    super("not_found", "moved");
    this.location = location;
    this.status = status;
  }
}

/** The URL of the same request at another path of the service. */
export const movedTo = (rootUrl: string, path: string, { url }: Request): string =>
  rootUrl + path + new URL(url).search;
