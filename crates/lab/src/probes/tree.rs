//! Determines which processes belong to the system: the descendants of its keepers, or of the root processes of a running system.
//!
//! A keeper adopts its orphans, so a descendant remains one, and no other process becomes one. It is therefore enough to list the processes
//! of the machine, and to examine new process IDs.

use std::collections::{HashMap, HashSet};

/// Number of looks after which processes outside are examined again, because a process ID may have been reused.
const LOOKS_BETWEEN_RECHECKS: u32 = 30;
/// Max number of processes of a system that are followed.
pub(crate) const MEMBERS_MAX: usize = 4096;

/// Members by pid, with the index of the keeper they descend from.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    keepers: HashMap<u32, usize>,
    members: HashMap<u32, usize>,
    outside: HashSet<u32>,
    /// Processes outside for good, together with all their descendants.
    strangers: HashSet<u32>,
    looks: u32,
}

impl Tree {
    /// Creates a tree from keepers and their indexes.
    pub(crate) fn of(keepers: impl Iterator<Item = (u32, usize)>) -> Self {
        Self { keepers: keepers.collect(), ..Self::default() }
    }

    /// Adds processes without a keeper as roots. `strangers` are not members, even below the roots.
    pub(crate) fn adopt(&mut self, roots: &[u32], number: usize, strangers: impl IntoIterator<Item = u32>) {
        self.strangers.extend(strangers);
        // Children of the roots were outside before.
        self.outside.clear();
        for root in roots {
            self.strangers.remove(root);
            self.members.insert(*root, number);
        }
    }

    pub(crate) fn has(&self, pid: u32) -> bool {
        self.members.contains_key(&pid)
    }

    /// Returns the new members, parents before their children. `parent_of` returns `None` for a process that has ended meanwhile.
    pub(crate) fn newcomers(
        &mut self,
        listed: &[u32],
        mut parent_of: impl FnMut(u32) -> Option<u32>,
    ) -> Vec<(usize, u32)> {
        self.looks += 1;
        if self.looks.is_multiple_of(LOOKS_BETWEEN_RECHECKS) {
            self.outside.clear();
        }
        let is_new = |pid: &&u32| {
            !self.keepers.contains_key(pid)
                && !self.members.contains_key(pid)
                && !self.outside.contains(pid)
                && !self.strangers.contains(pid)
        };
        let parents: HashMap<u32, u32> =
            listed.iter().filter(is_new).filter_map(|pid| Some((*pid, parent_of(*pid)?))).collect();
        self.outside = listed.iter().filter(|pid| self.outside.contains(pid)).copied().collect();
        let mut found = Vec::new();
        for pid in parents.keys() {
            match self.find_ancestry(*pid, &parents) {
                Ancestry::Below(keeper, depth) => found.push((depth, *pid, keeper)),
                Ancestry::Outside => {
                    self.outside.insert(*pid);
                }
                Ancestry::Unclear => {}
            }
        }
        found.sort_unstable();
        found.truncate(MEMBERS_MAX.saturating_sub(self.members.len()));
        self.members.extend(found.iter().map(|(_, pid, keeper)| (*pid, *keeper)));
        found.into_iter().map(|(_, pid, keeper)| (keeper, pid)).collect()
    }

    /// Removes a member that has ended.
    pub(crate) fn forget(&mut self, pid: u32) {
        self.members.remove(&pid);
    }

    pub(crate) fn is_full(&self) -> bool {
        self.members.len() >= MEMBERS_MAX
    }

    fn find_ancestry(&self, pid: u32, parents: &HashMap<u32, u32>) -> Ancestry {
        let mut at = pid;
        for depth in 0..=parents.len() {
            let Some(&parent) = parents.get(&at) else { return Ancestry::Unclear };
            if let Some(keeper) = self.keepers.get(&parent).or_else(|| self.members.get(&parent)) {
                return Ancestry::Below(*keeper, depth);
            }
            if parent == 0 || self.outside.contains(&parent) || self.strangers.contains(&parent) {
                return Ancestry::Outside;
            }
            at = parent;
        }
        // A cycle: process IDs were reused while they were read.
        Ancestry::Unclear
    }
}

enum Ancestry {
    /// Index of the keeper, and number of new processes between this one and a known one.
    Below(usize, usize),
    Outside,
    /// An ancestor ended while the processes were read. The next look decides.
    Unclear,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(tree: &mut Tree, parents: &[(u32, u32)]) -> (Vec<(usize, u32)>, Vec<u32>) {
        let listed: Vec<u32> = parents.iter().map(|(pid, _)| *pid).collect();
        let mut asked = Vec::new();
        let found = tree.newcomers(&listed, |pid| {
            asked.push(pid);
            parents.iter().find(|(listed, _)| *listed == pid).map(|(_, parent)| *parent)
        });
        (found, asked)
    }

    #[test]
    fn descendants_are_found_parents_first_without_keepers() {
        let mut tree = Tree::of([(100, 0), (200, 1)].into_iter());
        // 50 is a child of 51: process IDs wrap around at the end of their range.
        let machine =
            [(1, 0), (9, 1), (50, 51), (51, 101), (90, 9), (100, 9), (101, 100), (200, 9), (201, 200)];
        let (found, _) = look(&mut tree, &machine);
        assert_eq!(found, [(0, 101), (1, 201), (0, 51), (0, 50)]);
    }

    #[test]
    fn only_new_processes_are_examined() {
        let mut tree = Tree::of([(100, 0)].into_iter());
        let mut machine = vec![(1, 0), (9, 1), (100, 9), (101, 100)];
        look(&mut tree, &machine);
        machine.push((102, 101));
        assert_eq!(look(&mut tree, &machine), (vec![(0, 102)], vec![102]));
        for _ in 3..LOOKS_BETWEEN_RECHECKS {
            assert_eq!(look(&mut tree, &machine), (vec![], vec![]));
        }
        assert_eq!(look(&mut tree, &machine).1, [1, 9]);
    }

    #[test]
    fn reused_process_id_is_examined_again() {
        let mut tree = Tree::of([(100, 0)].into_iter());
        look(&mut tree, &[(1, 0), (9, 1), (100, 1), (101, 100)]);
        look(&mut tree, &[(1, 0), (100, 1), (101, 100)]);
        assert_eq!(look(&mut tree, &[(1, 0), (9, 101), (100, 1), (101, 100)]).0, [(0, 9)]);
        tree.forget(9);
        assert_eq!(look(&mut tree, &[(1, 0), (9, 1), (100, 1), (101, 100)]).0, []);
    }

    #[test]
    fn adopted_roots_have_descendants_and_strangers_have_none() {
        let mut tree = Tree::of([(300, 1)].into_iter());
        // 50 is below the system, 60 is a Tenbin next to it, and 300 is a keeper below Tenbin.
        let machine =
            [(1, 0), (40, 1), (50, 40), (55, 40), (60, 55), (61, 60), (300, 60), (301, 300), (70, 1)];
        assert_eq!(look(&mut tree, &machine).0, [(1, 301)]);
        tree.adopt(&[40], 0, [1, 40, 55, 60]);
        assert_eq!(look(&mut tree, &machine).0, [(0, 50)]);
        assert!(tree.has(40) && tree.has(50) && !tree.has(61) && !tree.has(70));
    }

    #[test]
    fn unclear_process_is_examined_again() {
        let mut tree = Tree::of([(100, 0)].into_iter());
        assert_eq!(look(&mut tree, &[(1, 0), (100, 1), (102, 101), (7, 8), (8, 7)]).0, []);
        assert_eq!(
            look(&mut tree, &[(1, 0), (100, 1), (102, 100), (7, 8), (8, 102)]).0,
            [(0, 102), (0, 8), (0, 7)]
        );
    }

    #[test]
    fn number_of_members_is_bounded() {
        let mut tree = Tree::of([(1, 0)].into_iter());
        let many: Vec<u32> = (2..2 + 2 * u32::try_from(MEMBERS_MAX).unwrap()).collect();
        assert_eq!(tree.newcomers(&many, |_| Some(1)).len(), MEMBERS_MAX);
        assert!(tree.is_full());
        assert!(tree.newcomers(&many, |_| Some(1)).is_empty());
    }
}
