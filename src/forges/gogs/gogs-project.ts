import type { ApiClient } from "../api-client.ts";

/** The context that the readers of all kinds share. */
export interface GogsProject {
  readonly client: ApiClient;
  /** In the API, such as `/repos/owner/name`. */
  readonly path: string;
  /** The forge's pages, without a slash at the end. */
  readonly rootUrl: string;
}
