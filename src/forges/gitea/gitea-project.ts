import type { ApiClient } from "../api-client.ts";
import type { ListPages } from "./list-pages.ts";

/** The context that the readers of all kinds share. */
export interface GiteaProject {
  readonly client: ApiClient;
  readonly lists: ListPages;
  /** In the API, such as `/repos/owner/name`. */
  readonly path: string;
  /** In the API, encoded. */
  readonly owner: string;
  /** The forge's pages, without a slash at the end. */
  readonly rootUrl: string;
}
