/** Goods in stock, and how many of them are reserved. */

export class Inventory {
  #shelves = new Map();

  /** Puts new goods on the shelf. */
  receive(code, quantity) {
    const shelf = this.#shelves.get(code) ?? { onHand: 0, reserved: 0 };
    this.#shelves.set(code, { ...shelf, onHand: shelf.onHand + quantity });
  }

  /** Pieces that can still be reserved. */
  available(code) {
    const shelf = this.#shelves.get(code);
    if (!shelf) return 0;
    return shelf.onHand - shelf.reserved;
  }

  /** Reserves pieces; returns false and changes nothing if there are too few. */
  reserve(code, quantity) {
    if (this.available(code) < quantity) return false;
    const shelf = this.#shelves.get(code);
    this.#shelves.set(code, { ...shelf, reserved: shelf.reserved + quantity });
    return true;
  }

  /** Releases a reservation. */
  release(code, quantity) {
    const shelf = this.#shelves.get(code);
    if (!shelf) return;
    const released = Math.min(quantity, shelf.reserved);
    this.#shelves.set(code, { ...shelf, reserved: shelf.reserved - released });
  }

  /** Ships reserved goods. */
  ship(code, quantity) {
    const shelf = this.#shelves.get(code);
    if (!shelf || shelf.reserved < quantity) throw new Error(`${code}: ${quantity} were never reserved`);
    this.#shelves.set(code, { onHand: shelf.onHand - quantity, reserved: shelf.reserved - quantity });
  }

  /** Codes with fewer than `minimum` pieces available, in alphabetical order. */
  runningLow(minimum) {
    return [...this.#shelves.keys()].filter((code) => this.available(code) < minimum).sort();
  }

  /** Plain data, for storage. */
  toJSON() {
    return Object.fromEntries(this.#shelves);
  }

  static fromJSON(data) {
    const inventory = new Inventory();
    for (const [code, shelf] of Object.entries(data)) inventory.#shelves.set(code, { ...shelf });
    return inventory;
  }
}
