/** What checkpoints may cost. */
export interface CheckpointLimits {
  /** A larger file is not covered. */
  readonly maxFileBytes: number;
  /** With more there are no checkpoints. */
  readonly maxFiles: number;
  /** For one checkpoint. */
  readonly budgetMs: number;
  /** For the first of a process, which may have to read everything. */
  readonly firstBudgetMs: number;
  /** Of the store, in bytes. */
  readonly quota: number;
}

export const defaultLimits: CheckpointLimits = {
  maxFileBytes: 10 * 1024 * 1024,
  maxFiles: 200_000,
  budgetMs: 2_000,
  firstBudgetMs: 20_000,
  quota: 2 * 1024 * 1024 * 1024,
};
