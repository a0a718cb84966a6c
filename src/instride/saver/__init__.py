"""What a training script uses: Saver, Keep, Pending; save and load."""
