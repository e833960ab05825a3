# opal/datatype: let opal_convertor_raw() go on inside of a block
#
# The count on a convertor's stack is that of the elements that are left. Its
# remainder by the length of a block therefore is what is left of the block,
# and pack and unpack treat it so. opal_convertor_raw() takes the remainder for
# what is done of the block. So the first segment that it gives has a wrong
# length, and all others lie at a wrong place. Nobody has noticed because its
# callers start at the beginning of the data.
#
# The program in the message of
# opal/datatype-lookahead/patches/5.0/0002-raw-inside-block.patch shows it.
# 5.0.7 and 6.0.0rc2 print [1, +1] [4, +4] [10, +4], with this change
# [1, +3] [6, +4] [12, +4] [18, +4], which is right.
#
# File: opal/datatype/opal_convertor_raw.c
/if ((do_now = count_desc % current->blocklen)) {/{
n
d
}
