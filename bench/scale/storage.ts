import type { Inputs, Stored } from "./inputs/read.ts";
import { type Layout, Relations } from "./layout.ts";

/** Sizes of the databases of a layout. */
export type DatabaseSizes = {
  /** The largest database of accounts and of the directory. */
  firstBytes: number;
  /** The largest shard; 0 without shards. */
  shardBytes: number;
  totalBytes: number;
};

/** Rows that a day adds. */
export type DailyRows = { events: number; dispatched: number; deliveries: number };

/** Repositories whose rows are counted one by one. */
const EACH = 100_000;
const STRIDE = 29;

/** Sizes of databases from the rows of the workload and the measured bytes of each. */
export class Storage {
  readonly #inputs: Inputs;
  readonly #relations: Relations;

  constructor(inputs: Inputs) {
    this.#inputs = inputs;
    this.#relations = new Relations(inputs.workload);
  }

  sizesOf(layout: Layout, rows: DailyRows): DatabaseSizes {
    const { stored } = this.#inputs.workload;
    const accountBytes = this.#bytesOf(stored.first, rows);
    const directoryBytes = this.#bytesOf(stored.directory, rows);
    const ownBytes = this.#bytesOf(stored.shard, rows);
    const { directories, shards } = layout;
    const first = this.#spread(directories, (id) =>
      this.#relations.directoryOf(this.#relations.ownerOf(id), layout),
    );
    // Accounts spread evenly over many databases.
    const perFirst = (share: Share): number =>
      accountBytes / directories +
      directoryBytes * share.even +
      (shards === 0 ? this.#own(ownBytes, share) : 0);
    const own =
      shards === 0 ? [] : this.#spread(shards, (id) => this.#relations.shardOf(id, layout));
    return {
      firstBytes: Math.max(...first.map(perFirst)),
      shardBytes: Math.max(0, ...own.map((share) => this.#own(ownBytes, share))),
      totalBytes: accountBytes + directoryBytes + ownBytes,
    };
  }

  /** Popular repositories have more rows. */
  #own(bytes: number, { even, popular }: Share): number {
    const { unevenShare } = this.#inputs.workload;
    return bytes * (unevenShare * popular + (1 - unevenShare) * even);
  }

  /** The share of each database of the repositories, and of their popularity. */
  #spread(databases: number, databaseOf: (repository: number) => number): Share[] {
    const { count } = this.#relations.repositories;
    const shares = Array.from({ length: databases }, () => ({ even: 0, popular: 0 }));
    if (databases === 1) return [{ even: 1, popular: 1 }];
    // Each of the popular repositories, and every so many of the others for all around it.
    for (let rank = 1; rank <= count; rank += rank < EACH ? 1 : STRIDE) {
      const share = shares[databaseOf(rank)];
      if (!share) throw new Error(`no database of repository ${rank}`);
      const represented = Math.min(rank < EACH ? 1 : STRIDE, count + 1 - rank);
      share.even += represented / count;
      share.popular += represented * this.#relations.repositories.shareOf(rank);
    }
    return shares;
  }

  #bytesOf(tables: Stored, rows: DailyRows): number {
    const { workload, cost } = this.#inputs;
    return Object.entries(tables).reduce((sum, [table, count]) => {
      const rowCount =
        "perUser" in count
          ? count.perUser * workload.users
          : "perRepository" in count
            ? count.perRepository * workload.repositories
            : rows[count.perDay] * count.days;
      return sum + rowCount * cost(`bytes.${table}`);
    }, 0);
  }
}

type Share = { even: number; popular: number };
